/** The types of kubeconfig files. objects/schema/read-types.ts describes the syntax. */
export const kubeconfigTypes = `
package kubeconfig/v1

ExecInteractiveMode = string

Config
  kind string -
  apiVersion string -
  preferences! Preferences -
  clusters! []NamedCluster -
  users! []NamedAuthInfo -
  contexts! []NamedContext -
  current-context! string -
  extensions []NamedExtension -

Preferences
  colors bool -
  extensions []NamedExtension -

NamedCluster
  name! string -
  cluster! Cluster -

Cluster
  server! string -
  tls-server-name string -
  insecure-skip-tls-verify bool -
  certificate-authority string -
  certificate-authority-data []byte -
  proxy-url string -
  disable-compression bool -
  extensions []NamedExtension -

NamedAuthInfo
  name! string -
  user! AuthInfo -

AuthInfo
  client-certificate string -
  client-certificate-data []byte -
  client-key string -
  client-key-data []byte -
  token string -
  tokenFile string -
  as string -
  as-uid string -
  as-groups []string -
  as-user-extra map[string][]string -
  username string -
  password string -
  auth-provider *AuthProviderConfig -
  exec *ExecConfig -
  extensions []NamedExtension -

NamedContext
  name! string -
  context! Context -

Context
  cluster! string -
  user! string -
  namespace string -
  extensions []NamedExtension -

NamedExtension
  name! string -
  extension! RawExtension -

AuthProviderConfig
  name! string -
  config! map[string]string -

ExecConfig
  command! string -
  args! []string -
  env! []ExecEnvVar -
  apiVersion string -
  installHint string -
  provideClusterInfo! bool -
  interactiveMode ExecInteractiveMode -

ExecEnvVar
  name! string -
  value! string -
`
