/**
 * The page /flagz (feature gate ComponentFlagz), which lists every flag with its value. Flags do
 * not contain secrets, because secrets are read from files.
 */
import type { ApiRequest } from '../../api/request.ts'
import { plainPage, type TextPage } from './plain-page.ts'

export const flagsPath = '/flagz'

export const flagsPage = (
  request: Pick<ApiRequest, 'headers'>,
  flags: ReadonlyMap<string, string>,
): TextPage =>
  plainPage(
    request,
    'kube-apiserver flags',
    [...flags].map(([name, value]) => `${name}=${value}`).toSorted(),
  )
