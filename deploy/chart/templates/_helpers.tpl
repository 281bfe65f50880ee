{{- define "keelson.name" -}}
{{- if contains "keelson" .Release.Name }}{{ .Release.Name | trunc 50 }}{{ else }}{{ printf "%s-keelson" .Release.Name | trunc 50 }}{{ end }}
{{- end }}

{{- define "keelson.selector" -}}
app.kubernetes.io/name: keelson
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "keelson.labels" -}}
{{ include "keelson.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "keelson.secret" -}}
{{ .Values.certificates.existingSecret | default (include "keelson.name" .) }}
{{- end }}
