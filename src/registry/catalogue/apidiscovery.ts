/** The types of aggregated discovery. Nothing publishes them, so they are written by hand. */
export const apidiscoveryTypes = `
package apidiscovery/v2

ResourceScope = string
DiscoveryFreshness = string

APIGroupDiscoveryList
  ...meta.TypeMeta
  metadata meta.ListMeta 1
  items! []APIGroupDiscovery 2

APIGroupDiscovery
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  versions []APIVersionDiscovery 2 map=version

APIVersionDiscovery
  version! string 1
  resources []APIResourceDiscovery 2 map=resource
  freshness DiscoveryFreshness 3

APIResourceDiscovery
  resource! string 1
  responseKind *GroupVersionKind 2
  scope! ResourceScope 3
  singularResource! string 4
  verbs! []string 5 set
  shortNames []string 6 set
  categories []string 7 set
  subresources []APISubresourceDiscovery 8 map=subresource

APISubresourceDiscovery
  subresource! string 1
  responseKind *GroupVersionKind 2
  acceptedTypes []GroupVersionKind 3 map=group,version,kind
  verbs! []string 4 set

GroupVersionKind
  group! string 1
  version! string 2
  kind! string 3
`
