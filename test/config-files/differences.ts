/** What Keelson says otherwise than the reference, by case, and why. */
export const differences: { readonly [id: string]: { readonly why: string; readonly errors: readonly string[] } } = {
  'authorization/webhook/timeout-null': {
    why: 'a duration that is null is taken for none, as every other null is',
    errors: ['authorizers[0].timeout: Required value'],
  },
  'authorization/webhook/in-cluster': {
    why: 'the reference takes the file and panics',
    errors: ['invalid authorization config: connectionInfo.type InClusterConfig is not supported: use KubeConfigFile'],
  },
  'kubeconfig/cluster/two-of-a-name': {
    why: 'the reference shows the whole list; of users that would be their secrets',
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
  'kubeconfig/user/exec': {
    why: 'the server starts no programs',
    errors: ['$FILE: exec is not supported for user "u": give it a token, a tokenFile or a client certificate'],
  },
  'kubeconfig/user/exec-unchecked': {
    why: 'the same',
    errors: ['$FILE: exec is not supported for user "u": give it a token, a tokenFile or a client certificate'],
  },
}
