/**
 * The types of AdmissionConfiguration and of plugin configurations, by version. All versions of a
 * kind have the same fields. objects/schema/read-types.ts describes the syntax.
 */

const admission = `
AdmissionConfiguration
  ...meta.TypeMeta
  plugins! []AdmissionPluginConfiguration -

AdmissionPluginConfiguration
  name! string -
  path! string -
  configuration! *RawExtension -
`

const webhookAdmission = `
WebhookAdmission
  ...meta.TypeMeta
  kubeConfigFile! string -
`

const resourceQuota = `
Configuration
  ...meta.TypeMeta
  limitedResources! []LimitedResource -

LimitedResource
  apiGroup string -
  resource! string -
  matchContains []string -
  matchScopes []core.ScopedResourceSelectorRequirement -
`

const podSecurity = `
PodSecurityConfiguration
  ...meta.TypeMeta
  defaults! PodSecurityDefaults -
  exemptions! PodSecurityExemptions -

PodSecurityDefaults
  enforce string -
  enforce-version string -
  audit string -
  audit-version string -
  warn string -
  warn-version string -

PodSecurityExemptions
  usernames []string -
  namespaces []string -
  runtimeClasses []string -
`

export const admissionTypes = `
package core/v1

TolerationOperator = string
TaintEffect = string
ResourceQuotaScope = string
ScopeSelectorOperator = string

Toleration
  key string 1
  operator TolerationOperator 2
  value string 3
  effect TaintEffect 4
  tolerationSeconds *int64 5

ScopedResourceSelectorRequirement
  scopeName! ResourceQuotaScope 1
  operator! ScopeSelectorOperator 2
  values []string 3

package apiserver/v1
${admission}
package apiserver/v1alpha1
${admission}
package webhookadmission/v1

WebhookAdmissionConfiguration = WebhookAdmission
${webhookAdmission}
package webhookadmission/v1alpha1
${webhookAdmission}
package resourcequota/v1

ResourceQuotaConfiguration = Configuration
${resourceQuota}
package resourcequota/v1beta1
${resourceQuota}
package resourcequota/v1alpha1
${resourceQuota}
package podsecurity/v1
${podSecurity}
package podsecurity/v1beta1
${podSecurity}
package podsecurity/v1alpha1
${podSecurity}
package eventratelimit/v1alpha1

LimitType = string

Configuration
  ...meta.TypeMeta
  limits! []Limit -

Limit
  type! LimitType -
  qps! int32 -
  burst! int32 -
  cacheSize int32 -

package podtolerationrestriction/v1alpha1

Configuration
  ...meta.TypeMeta
  default []core.Toleration -
  whitelist []core.Toleration -

package go/time

Duration = int64

package admission/imagepolicy

AdmissionConfig
  imagePolicy! imagePolicyWebhookConfig -

imagePolicyWebhookConfig
  kubeConfigFile! string -
  allowTTL! go/time.Duration -
  denyTTL! go/time.Duration -
  retryBackoff! go/time.Duration -
  defaultAllow! bool -

package admission/podnodeselector

pluginConfig
  PodNodeSelectorPluginConfig! map[string]string -
`
