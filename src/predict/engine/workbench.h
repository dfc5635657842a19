// Workbench: everything that one decision of the instant tier needs and that no session has to keep
// — network and table as sources, pools, beams, trees, scratch. An engine has about as many as the
// machine has cores; a session leases one for a decision (workbench_pool.h).
//
// A bench remembers whose text it has read. The session that comes back to the same bench goes on
// where it was; another one's text is read anew, from the network's parked state where there is one.
// One thread at a time. No allocation after the first decisions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predict/engine/session_id.h"
#include "predict/engine/text_field.h"
#include "predict/ghost/ghost_search.h"
#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/list_builder.h"
#include "predict/offers/offer.h"

namespace laya::predict {

class Engine;

class Workbench {
 public:
  explicit Workbench(const Engine& engine);
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  /// Takes in `field`: reads what has changed since it was last here. All that the bench answers is
  /// about this text until the next call; `field` must live and stay as it is as long.
  void read(const TextField& field);

  /// Network, table, offers: without the decoder.
  const SearchSources& sources() const { return sources_; }
  ListBuilder& lists() { return lists_; }
  NetworkSource* network() { return network_ ? &*network_ : nullptr; }
  NgramSource* ngrams() { return ngrams_ ? &*ngrams_ : nullptr; }

  /// Passes of the network so far.
  std::uint64_t network_passes() const { return network_ ? network_->passes() : 0; }

  /// The instant tier's ghost behind what `out` lists, into out->reply. A list is there already.
  void find_ghost(const TextField& field, ReplyBuffers* out);

  // --- For the pool.
  /// Begins with another session's text, the network where `place` says.
  void begin(const NetworkPlace* place);
  /// Where the network stands; nothing where it has read nothing.
  std::optional<NetworkPlace> place() const;
  /// Wipes what it holds of a text.
  void clear();

 private:
  const Engine* engine_;
  std::optional<NgramSource> ngrams_;
  std::optional<NetworkSource> network_;
  std::vector<std::unique_ptr<OfferSource>> own_offers_;
  std::vector<OfferSource*> offers_;  // the same
  SearchSources sources_;
  ListBuilder lists_;
  GhostSearch ghost_search_;
  std::string seen_;            // the text left of the caret as the sources have read it
  std::uint64_t seen_cut_ = 0;  // its place in the field
  std::optional<NetworkPlace> resume_;
};

/// Whether the text and what is listed leave room for a grey phrase.
bool may_have_ghost(const TypedText& text, const ReplyBuffers& out);

/// The places in `from.shown` that a ghost may begin with, likeliest first (offers bring no ghost).
/// Of all that is there: a word that was passed over stands behind the list and may still be the
/// likeliest. Returns how many; at most kBeam.
std::size_t likeliest_starts(const ReplyBuffers& from,
                             std::array<std::size_t, GhostSearch::kBeam>& places);

}  // namespace laya::predict
