/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const certificatesTypes = `
package certificates/v1

ExtraValue = wrapped []string
RequestConditionType = string
KeyUsage = string: any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping

CertificateSigningRequest
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CertificateSigningRequestSpec 2
  status CertificateSigningRequestStatus 3

CertificateSigningRequestSpec
  request! []byte 1 atomic
  signerName! string 7
  expirationSeconds *int32 8
  usages []KeyUsage 5 atomic
  username string 2
  uid string 3
  groups []string 4 atomic
  extra map[string]ExtraValue 6

CertificateSigningRequestStatus
  conditions []CertificateSigningRequestCondition 1 map=type
  certificate []byte 2 atomic

CertificateSigningRequestCondition
  type! RequestConditionType 1
  status! core.ConditionStatus 6
  reason string 2
  message string 3
  lastUpdateTime meta.Time 4
  lastTransitionTime meta.Time 5

package certificates/v1alpha1

ClusterTrustBundle
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ClusterTrustBundleSpec 2

ClusterTrustBundleSpec
  signerName string 1
  trustBundle! string 2

package certificates/v1beta1

ClusterTrustBundle
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ClusterTrustBundleSpec 2

ClusterTrustBundleSpec
  signerName string 1
  trustBundle! string 2
`
