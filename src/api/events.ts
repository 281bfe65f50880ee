import type { ResourceName } from './errors.ts'

/**
 * Returns whether a resource is the built-in events, in either of their groups. Their objects
 * expire, are not charged to quotas, and kube-apiserver does not cache them. A custom kind may also
 * be named Event.
 */
export const isEvents = ({ group, plural }: ResourceName): boolean =>
  plural === 'events' && (group === '' || group === 'events.k8s.io')
