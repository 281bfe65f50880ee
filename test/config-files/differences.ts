/** Deliberate differences from the reference, by case. */
export const differences: { readonly [id: string]: { readonly why: string; readonly errors: readonly string[] } } = {
  'authorization/webhook/in-cluster': {
    why: 'the reference accepts the file and panics',
    errors: ['invalid authorization config: connectionInfo.type InClusterConfig is not supported: use KubeConfigFile'],
  },
  'kubeconfig/cluster/two-of-a-name': {
    why: 'the message of the reference contains the list, with the secrets of users',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "c" in list',
    ],
  },
  'kubeconfig/context/two-of-a-name': {
    why: 'the same',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedContext into *map[string]*api.Context: duplicate name "x" in list',
    ],
  },
  'kubeconfig/cluster/proxy': {
    why: 'socks5 proxies are not supported',
    errors: ['$FILE: proxy-url of scheme socks5 is not supported: use an http or https proxy'],
  },
  'kubeconfig/user/exec': {
    why: 'exec plugins are not supported',
    errors: ['$FILE: exec is not supported for user "u": give it a token, a tokenFile or a client certificate'],
  },
  'kubeconfig/user/exec-unchecked': {
    why: 'the same',
    errors: ['$FILE: exec is not supported for user "u": give it a token, a tokenFile or a client certificate'],
  },
}
