/**
 * The types of AuthenticationConfiguration, AuthorizationConfiguration, EncryptionConfiguration,
 * EgressSelectorConfiguration and TracingConfiguration, by version. All versions of a kind have the
 * same fields. objects/schema/read-types.ts describes the syntax.
 *
 * The types have no protobuf form. Unlike in kube-apiserver, durations are pointers. This
 * distinguishes an empty string, which is invalid, from an absent field.
 */

const authentication = `
AudienceMatchPolicyType = string

AuthenticationConfiguration
  ...meta.TypeMeta
  jwt! []JWTAuthenticator -
  anonymous *AnonymousAuthConfig -

AnonymousAuthConfig
  enabled! bool -
  conditions []AnonymousAuthCondition -

AnonymousAuthCondition
  path! string -

JWTAuthenticator
  issuer! Issuer -
  claimValidationRules []ClaimValidationRule -
  claimMappings! ClaimMappings -
  userValidationRules []UserValidationRule -

Issuer
  url! string -
  discoveryURL *string -
  certificateAuthority string -
  audiences! []string -
  audienceMatchPolicy AudienceMatchPolicyType -

ClaimValidationRule
  claim string -
  requiredValue string -
  expression string -
  message string -

ClaimMappings
  username! PrefixedClaimOrExpression -
  groups PrefixedClaimOrExpression -
  uid! ClaimOrExpression -
  extra []ExtraMapping -

PrefixedClaimOrExpression
  claim string -
  prefix *string -
  expression string -

ClaimOrExpression
  claim string -
  expression string -

ExtraMapping
  key! string -
  valueExpression! string -

UserValidationRule
  expression! string -
  message string -
`

const authorization = `
AuthorizationConfiguration
  ...meta.TypeMeta
  authorizers! []AuthorizerConfiguration -

AuthorizerConfiguration
  type! string -
  name! string -
  webhook *WebhookConfiguration -

WebhookConfiguration
  authorizedTTL! *meta.Duration -
  unauthorizedTTL! *meta.Duration -
  timeout! *meta.Duration -
  subjectAccessReviewVersion! string -
  matchConditionSubjectAccessReviewVersion! string -
  failurePolicy! string -
  connectionInfo! WebhookConnectionInfo -
  matchConditions! []WebhookMatchCondition -

WebhookConnectionInfo
  type! string -
  kubeConfigFile! *string -

WebhookMatchCondition
  expression! string -
`

/** Old files have the kind EncryptionConfig and the apiVersion v1, without an API group. */
const encryption = `
EncryptionConfiguration
  ...meta.TypeMeta
  resources! []ResourceConfiguration -

EncryptionConfig
  ...meta.TypeMeta
  resources! []ResourceConfiguration -

ResourceConfiguration
  resources! []string -
  providers! []ProviderConfiguration -

ProviderConfiguration
  aesgcm *AESConfiguration -
  aescbc *AESConfiguration -
  secretbox *SecretboxConfiguration -
  identity *IdentityConfiguration -
  kms *KMSConfiguration -

AESConfiguration
  keys! []Key -

SecretboxConfiguration
  keys! []Key -

IdentityConfiguration

Key
  name! string -
  secret! string -

KMSConfiguration
  apiVersion string -
  name! string -
  cachesize *int32 -
  endpoint! string -
  timeout *meta.Duration -
`

const tracing = `
TracingConfiguration
  ...meta.TypeMeta
  endpoint *string -
  samplingRatePerMillion *int32 -
`

const egress = `
EgressSelectorConfiguration
  ...meta.TypeMeta
  egressSelections! []EgressSelection -

EgressSelection
  name! string -
  connection! Connection -

Connection
  proxyProtocol ProtocolType -
  transport *Transport -

ProtocolType = string

Transport
  tcp *TCPTransport -
  uds *UDSTransport -

TCPTransport
  url string -
  tlsConfig *TLSConfig -

UDSTransport
  udsName string -

TLSConfig
  caBundle string -
  clientKey string -
  clientCert string -
`

export const apiserverTypes = `
package apiserver/v1alpha1
${authentication}${authorization}${tracing}${egress}
package apiserver/v1beta1
${authentication}${authorization}${tracing}${egress}
package apiserver/v1
${authorization}${encryption}`
