/**
 * `keelson/testing`: a Kubernetes API server in the process of a test (docs/testing.md). The
 * exports of this file follow semantic versioning.
 */
export { Cluster, type ClusterOptions, startCluster } from './cluster.ts'
export type { ApplySource } from './apply.ts'
export type { TestClock } from './clock.ts'
export type { TestUser } from './credentials.ts'
export type { Expectation, ExpectOptions, ObjectReference } from './expectation.ts'
export type { FaultMatch, Verb } from './fault-match.ts'
export type { FaultEffect } from './fault-effect.ts'
export type { Fault, Faults } from './faults.ts'
export type { FieldChange } from './object-changes.ts'
export type { HistoryFilter, RecordedRequest } from './recorded-request.ts'
export type { Kubeconfig } from '../../api/kubeconfig.ts'
export type { TestRequest, TestResponse } from './own-client.ts'
export type { Snapshot } from './snapshot.ts'
export type { RefusedRequest, TimelineEntry, TimelineWrite } from './timeline.ts'
export type { NotYet, WaitOptions } from './wait-for.ts'
export type { FieldOwner, StoredObject, Write } from './write.ts'
