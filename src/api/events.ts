import type { ResourceName } from './errors.ts'

/**
 * Returns whether a resource is the built-in events resource, in either of its groups. Events
 * expire and are not charged to quotas, and kube-apiserver does not cache them. The group is
 * checked because a custom resource can also be named events.
 */
export const isEvents = ({ group, plural }: ResourceName): boolean =>
  plural === 'events' && (group === '' || group === 'events.k8s.io')
