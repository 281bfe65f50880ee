/**
 * Reads the configuration of the MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins: a
 * kubeconfig with the credentials for webhooks. The name of each user in the kubeconfig is the host
 * of a webhook.
 *
 * The kind is WebhookAdmissionConfiguration in apiserver.config.k8s.io/v1, and WebhookAdmission in
 * v1alpha1. As in kube-apiserver, unknown fields are ignored.
 */
import { isAbsolute } from 'node:path'
import { describeFaults } from '../../api/aggregate.ts'
import { invalidValue } from '../../api/field-fault.ts'
import { textOf } from '../../api/object.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import type { KubeconfigUsers } from '../../net/outbound/kubeconfig.ts'
import { readKubeconfigUsers } from './kubeconfig.ts'
import { webhookAdmissionScheme } from './schemes.ts'

export const readWebhookUsers = (bytes: Buffer): FileRead<KubeconfigUsers> =>
  readConfigFile(bytes, fileType)

const fileType: ConfigFileType<KubeconfigUsers> = {
  scheme: webhookAdmissionScheme,
  kind: 'WebhookAdmission',
  isLenient: true,
  read: ({ kubeConfigFile }) => {
    const path = textOf(kubeConfigFile)
    if (!isAbsolute(path)) {
      return {
        fault: describeFaults([
          invalidValue('kubeConfigFile', path, 'must be an absolute file path'),
        ]),
      }
    }
    const users = readKubeconfigUsers(path)
    return 'fault' in users ? users : { value: users }
  },
}
