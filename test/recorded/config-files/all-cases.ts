/** All test cases, by the name of their file in recorded/. */
import { admissionFlagCases } from './admission-flag-cases.ts'
import { admissionCases } from './admission-cases.ts'
import { auditCases } from './audit-cases.ts'
import { authenticationCases } from './authentication-cases.ts'
import { authorizationCases } from './authorization-cases.ts'
import type { ConfigCase } from './case.ts'
import { egressCases } from './egress-cases.ts'
import { encryptionCases } from './encryption-cases.ts'
import { flagCases } from './flag-cases.ts'
import { kubeconfigCases } from './kubeconfig-cases.ts'
import { serverFlagCases } from './server-flag-cases.ts'
import { servingFlagCases } from './serving-flag-cases.ts'
import { tracingCases } from './tracing-cases.ts'
import { typeCases } from './type-cases.ts'

export const caseSets: { readonly [name: string]: readonly ConfigCase[] } = {
  authentication: authenticationCases,
  authorization: authorizationCases,
  admission: admissionCases,
  audit: auditCases,
  encryption: encryptionCases,
  egress: egressCases,
  tracing: tracingCases,
  kubeconfig: kubeconfigCases,
  flags: flagCases,
  types: typeCases,
  server: serverFlagCases,
  'admission-flags': admissionFlagCases,
  serving: servingFlagCases,
}
