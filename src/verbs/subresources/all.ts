/** Every part that is neither a read nor a write of its object. */
import type { ResourceRequest } from '../../registry/resource.ts'
import { bind } from './binding.ts'
import { evict } from './eviction.ts'
import { readLog } from './log.ts'
import type { Part } from './part.ts'
import { proxy } from './proxy.ts'
import { connect } from './stream.ts'

const parts: ReadonlyMap<string, Part> = new Map([
  ['bindings/', bind],
  ['pods/binding', bind],
  ['pods/eviction', evict],
  ['pods/log', readLog],
  ['pods/exec', connect],
  ['pods/attach', connect],
  ['pods/portforward', connect],
  ['pods/proxy', proxy],
  ['services/proxy', proxy],
  ['nodes/proxy', proxy],
])

export const partOf = ({ resource, subresource }: ResourceRequest): Part | undefined =>
  resource.group === '' ? parts.get(`${resource.plural}/${subresource}`) : undefined
