// The words of src/field that this room speaks.
#pragma once

#include "field/field_text.h"
#include "field/ghost_state.h"
#include "field/reply.h"

namespace laya::predict {

using field::Candidate;
using field::Change;
using field::Edit;
using field::field_is_blocked;
using field::FieldKind;
using field::FieldText;
using field::Ghost;
using field::GhostState;
using field::kKeptAfterBytes;
using field::kKeptBytes;
using field::Latency;
using field::LeftEdge;
using field::Origin;
using field::origin_name;
using field::PendingSpace;
using field::Reply;
using field::Silence;
using field::silence_name;
using field::Tier;
using field::tier_name;

}  // namespace laya::predict
