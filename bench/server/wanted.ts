/**
 * Targets of each load in a comparison with kube-apiserver: the minimum rate as a multiple of
 * kube-apiserver's rate, and the maximum CPU time as a share of kube-apiserver's.
 */

export type LoadTarget = { readonly rate?: number; readonly cpu?: number }

/** Loads that `npm run bench -- --reference` runs when no load is named. */
const usual: Readonly<Record<string, LoadTarget>> = {
  get: { rate: 5, cpu: 1 / 5 },
  'get-any': { rate: 5, cpu: 1 / 5 },
  create: { rate: 2.5, cpu: 1 / 3 },
  'create-custom': { rate: 3, cpu: 1 / 3 },
  'patch-custom': { rate: 3, cpu: 1 / 3 },
  patch: { rate: 3, cpu: 1 / 3 },
  'patch-again': { rate: 3, cpu: 1 / 3 },
  'patch-strategic': { rate: 3, cpu: 1 / 3 },
  apply: { rate: 4, cpu: 1 / 4 },
  'apply-again': { rate: 4, cpu: 1 / 4 },
  'apply-large': { rate: 4, cpu: 1 / 4 },
  page: { rate: 5, cpu: 1 / 8 },
  list: { rate: 5, cpu: 1 / 8 },
  'list-any': { rate: 5, cpu: 1 / 8 },
  'list-gzip': { rate: 3 },
  table: { rate: 4 },
  'list-protobuf': { rate: 2 },
  watch: { cpu: 1 / 2 },
  'list-by-node': { rate: 2, cpu: 1 / 2 },
  'list-by-label': { rate: 2, cpu: 1 / 2 },
  'list-by-none': { rate: 2, cpu: 1 / 2 },
  'list-by-name': { rate: 2, cpu: 1 / 2 },
}

/** Target of loads for which it is sufficient that Keelson is as fast as kube-apiserver. */
const atLeastEqual: LoadTarget = { rate: 1, cpu: 1 }
const streaming: LoadTarget = { rate: 4 }
const warm: LoadTarget = { rate: 3 }
const cold: LoadTarget = { rate: 1 }

export const wanted: Readonly<Record<string, LoadTarget>> = {
  ...usual,
  'list-by-phase': { rate: 2, cpu: 1 / 2 },
  'list-by-namespace': { rate: 2, cpu: 1 / 2 },
  'pages-by-label': { rate: 2, cpu: 1 / 2 },
  'kubectl-get': { rate: 2, cpu: 1 / 2 },
  'informer-json': warm,
  'informer-json-cold': cold,
  'informer-json-restart': cold,
  'informer-protobuf': warm,
  'informer-protobuf-cold': cold,
  'informer-protobuf-restart': cold,
  'informer-stream': streaming,
  'informer-stream-cold': cold,
  'informer-stream-restart': cold,
  'informer-stream-protobuf': streaming,
  'informer-stream-protobuf-cold': cold,
  'informer-stream-protobuf-restart': cold,
  kubelets: atLeastEqual,
  controllers: atLeastEqual,
  rest: { cpu: 1 / 2 },
  'delete-collection': atLeastEqual,
  'watch-by-node': { cpu: 1 / 4 },
  'watch-by-label': { cpu: 1 },
  'watch-by-name': { cpu: 1 },
  'watch-by-namespace': { cpu: 1 },
  'large-by-node': { rate: 2, cpu: 1 / 2 },
  'large-by-label': atLeastEqual,
  'large-by-none': atLeastEqual,
  'large-by-phase': atLeastEqual,
  'large-by-name': { rate: 2, cpu: 1 / 2 },
  'large-by-namespace': { rate: 2, cpu: 1 / 2 },
  'large-pages-by-label': atLeastEqual,
}

export const usualLoads: readonly string[] = Object.keys(usual)
