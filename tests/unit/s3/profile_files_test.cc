// SPDX-License-Identifier: Apache-2.0
#include "s3/profile_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/s3/aws_home.h"

namespace augur {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProfileFiles, MakeAProfileOfBothFiles) {
  AwsHome home;
  home.WriteConfig(
      "[default]\nregion = r1\naws_access_key_id = config\n[profile a]\nregion = r2\n[b]\nregion = r3\n"
      "[profile 'c d']\nregion = r4\n[profilee]\nregion = r5\n");
  home.WriteCredentials("[default]\naws_access_key_id = credentials\n[b]\naws_access_key_id = kb\n");
  const ProfileFiles files = home.Files();
  EXPECT_EQ(files.Get("default", "region"), "r1");
  EXPECT_EQ(files.Get("default", "aws_access_key_id"), "credentials");
  EXPECT_EQ(files.Get("a", "region"), "r2");
  EXPECT_EQ(files.Get("b", "region"), "") << "[b] of the config file is no profile";
  EXPECT_EQ(files.Get("b", "aws_access_key_id"), "kb");
  EXPECT_EQ(files.Get("c d", "region"), "r4");
  EXPECT_EQ(files.Find("e"), nullptr);
  EXPECT_THAT(files.Absence(), IsEmpty());
}

TEST(ProfileFiles, AreWhereTheVariablesSay) {
  AwsHome home;
  home.Set("AWS_CONFIG_FILE", home.Write("other/config", "[default]\nregion = r1\n"));
  home.Set("AWS_SHARED_CREDENTIALS_FILE", "~/keys");
  home.Write("keys", "[default]\naws_access_key_id = k\n");
  EXPECT_EQ(home.Files().Get("default", "region"), "r1");
  EXPECT_EQ(home.Files().Get("default", "aws_access_key_id"), "k");
}

// botocore warns of no mode.
TEST(ProfileFiles, AreReadWhoeverElseMayReadThem) {
  AwsHome home;
  home.Write(".aws/credentials", "[default]\naws_access_key_id = k\n", 0644);
  EXPECT_EQ(home.Files().Get("default", "aws_access_key_id"), "k");
}

TEST(ProfileFiles, TellWhatIsNotThere) {
  AwsHome home;
  home.Set("AWS_CONFIG_FILE", home.path());
  const ProfileFiles files = home.Files();
  EXPECT_EQ(files.Find("default"), nullptr);
  EXPECT_THAT(files.Absence(), HasSubstr(home.path() + ": "));
  EXPECT_THAT(files.Absence(), HasSubstr("/.aws/credentials: No such file"));
}

TEST(ProfileFiles, RefuseAFileThatIsBroken) {
  AwsHome home;
  home.WriteConfig("[default\n");
  const Result<ProfileFiles> files = ProfileFiles::Load(home.environment(), home.path());
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.status().text(), HasSubstr("/.aws/config: line 1"));
}

TEST(ProfileFiles, HaveAnAddressForEachService) {
  AwsHome home;
  home.WriteConfig(
      "[profile a]\nservices = mine\nendpoint_url = http://all\n[services mine]\ns3 =\n  endpoint_url = http://s3\n"
      "[profile b]\nendpoint_url = http://b\n[profile c]\nservices = none\n");
  const ProfileFiles files = home.Files();
  EXPECT_EQ(files.EndpointUrl("a", "s3"), "http://s3");
  EXPECT_EQ(files.EndpointUrl("a", "sts"), "http://all");
  EXPECT_EQ(files.EndpointUrl("b", "s3"), "http://b");
  EXPECT_EQ(files.EndpointUrl("c", "s3"), "");
}

TEST(ProfileName, IsTheFirstThatIsGiven) {
  AwsHome home;
  EXPECT_EQ(ProfileName("", home.environment()), "default");
  EXPECT_FALSE(ProfileIsNamed("", home.environment()));
  home.Set("AWS_DEFAULT_PROFILE", "d");
  EXPECT_EQ(ProfileName("", home.environment()), "d");
  home.Set("AWS_PROFILE", "p");
  EXPECT_EQ(ProfileName("", home.environment()), "p");
  EXPECT_TRUE(ProfileIsNamed("", home.environment()));
  EXPECT_EQ(ProfileName("o", home.environment()), "o");
}

}  // namespace
}  // namespace augur
