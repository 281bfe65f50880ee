/** Builds authentication and authorization of a control plane. */
import type { Authorize } from '../../access/authorization/authorizer.ts'
import { RolesInformer } from '../../access/rbac/roles-informer.ts'
import { rbacGroup } from '../../access/rbac/role.ts'
import type { ParseToken } from '../../access/authentication/parse-token.ts'
import type { ExternalSigner } from '../../access/authentication/signer/external-signer.ts'
import type { ConfiguredAuthorizers } from '../../access/authorization/configured.ts'
import type { NodeGraphInformer } from '../../access/authorization/node/node-graph-informer.ts'
import { named } from '../../lib/telemetry/log.ts'
import type { PlaneCore } from '../plane-core.ts'
import { type ServiceAccountTokens, createServiceAccountTokens } from './service-accounts.ts'
import { type Authenticators, createAuthenticators } from './authenticators.ts'
import { createAuthorizers, createNodeGraph } from './authorizers.ts'
import type { JwtIssuers } from './jwt-issuers.ts'

/** Options for issuing and verifying tokens. */
export type TokenOptions = {
  /**
   * The external signer of service account tokens. If undefined, a configured key signs the tokens,
   * or no tokens are issued.
   */
  readonly signer: ExternalSigner | undefined
  /** The JWT authenticators. Undefined if no JWT issuer is configured. */
  readonly issuers: Pick<JwtIssuers, 'authenticate'> | undefined
  /**
   * Parses tokens. The verification of service account tokens and the JWT authenticators share this
   * function.
   */
  readonly parseToken: ParseToken
}

export type AccessControl = AsyncDisposable & {
  readonly authorize: Authorize
  readonly authorizers: ConfiguredAuthorizers
  readonly authenticators: Authenticators
  /** Issues and verifies service account tokens. Undefined if no issuer is configured. */
  readonly serviceAccounts: ServiceAccountTokens | undefined
  /**
   * Roles and bindings. They are read even without the RBAC authorizer, because the server checks
   * that users do not grant permissions that they do not have.
   */
  readonly roles: RolesInformer
  /**
   * Keeps the graph of the node authorizer current. Undefined if the node authorizer is not
   * configured.
   */
  readonly nodes: NodeGraphInformer | undefined
  /** Resolves when all roles and bindings have been read. */
  readonly start: () => Promise<void>
}

export function buildAccess(core: PlaneCore, tokens: TokenOptions): AccessControl {
  const { config, environment, registry, accessOf, metrics, egress, patterns } = core
  const { clock, log, random, verbosity } = environment
  const roles = new RolesInformer({ accessOf: core.accessIn(rbacGroup), log })
  const seconds = metrics.authorization.graphSeconds
  const nodes = createNodeGraph(config, { registry, accessOf, log, clock, seconds })
  const authorizers = createAuthorizers(config, {
    roles: roles.index,
    graph: nodes?.graph,
    metrics: metrics.authorization,
    log: named(log, 'access'),
    random,
    answerPattern: (question) => patterns.answer(question),
    dial: egress.controlplane,
    verbosity,
  })
  const serviceAccounts = createServiceAccountTokens(config, {
    parse: tokens.parseToken,
    objects: core.objects,
    handle: core.handle,
    signer: tokens.signer,
    metrics: metrics.serviceAccounts,
    clock,
    log,
  })
  const authenticators = createAuthenticators(config, {
    serviceAccounts,
    issuers: tokens.issuers,
    metrics: metrics.authentication,
    objects: core.objects,
    clock,
    random,
    log: named(log, 'access'),
    dial: egress.controlplane,
  })
  const owned = new AsyncDisposableStack()
  for (const one of [authenticators, authorizers, roles, nodes]) owned.use(one)
  return {
    authorize: authorizers.chain.authorize,
    authorizers,
    authenticators,
    serviceAccounts,
    roles,
    nodes,
    start: () => roles.start(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
