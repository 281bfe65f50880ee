import type { ResourceName } from './errors.ts'

/**
 * Whether a resource is the built-in events, in either of their groups: their objects expire, are
 * not charged to quotas, and upstream keeps none of them in memory. A custom kind may be called
 * Event, too.
 */
export const isEvents = ({ group, plural }: ResourceName): boolean =>
  plural === 'events' && (group === '' || group === 'events.k8s.io')
