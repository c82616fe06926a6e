// The errno table: weather is never fatal.
#include "net/errors.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace homa::net {
namespace {

TEST(SendErrors, field_34_back_pressure_is_never_fatal) {
  EXPECT_EQ(interpret_send_error(EAGAIN).status, SendStatus::would_block);
  EXPECT_EQ(interpret_send_error(ENOBUFS).status, SendStatus::no_buffers);
  EXPECT_EQ(interpret_send_error(ENOMEM).status, SendStatus::no_buffers);
}

TEST(SendErrors, only_our_own_defects_are_fatal) {
  for (int error = 1; error < 200; ++error) {
    const bool fatal = interpret_send_error(error).status == SendStatus::fatal;
    EXPECT_EQ(fatal, error == EBADF || error == ENOTSOCK || error == EPIPE || error == EFAULT) << error;
    EXPECT_NE(interpret_send_error(error).status, SendStatus::sent);
  }
}

TEST(SendErrors, back_pressure_is_not_retried_at_once) {
  for (int error : {EAGAIN, ENOBUFS, ENOMEM, EPERM, EINVAL}) EXPECT_FALSE(interpret_send_error(error).maybe_pending);
}

TEST(OpenErrors, every_errno_has_a_cause_and_a_cure) {
  for (int error = 1; error < 134; ++error) {
    const NetError meaning = interpret_open_error(error, "bind x");
    EXPECT_NE(meaning.kind, NetErrorKind::none);
    EXPECT_FALSE(meaning.cause.empty());
    EXPECT_FALSE(meaning.cure.empty());
    EXPECT_EQ(meaning.describe().rfind("bind x: ", 0), 0u);
  }
}

TEST(Texts, exist_for_every_value) {
  for (int i = 0; i <= static_cast<int>(SendStatus::fatal); ++i) {
    EXPECT_NE(to_text(static_cast<SendStatus>(i)), "unknown");
  }
  for (int i = 0; i <= static_cast<int>(NetErrorKind::other); ++i) {
    EXPECT_NE(to_text(static_cast<NetErrorKind>(i)), "unknown");
  }
}

}  // namespace
}  // namespace homa::net
