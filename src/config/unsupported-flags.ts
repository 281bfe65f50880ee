/**
 * Flags of kube-apiserver that Keelson does not support, by upstream's sections: the name and upstream's default. The default is
 * accepted, since it changes nothing; any other value is an error that names the flag and says why (unsupported-reasons.ts), so that nobody
 * believes that it has an effect. Boolean flags are those whose default is true or false: they need no value.
 */
export const unsupportedFlags: { readonly [section: string]: { readonly [name: string]: string } } = {
  Misc: {
    'aggregator-reject-forwarding-redirect': 'true',
  },
}
