apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  colour: {{ .Values.colour | quote }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
stringData:
  password: {{ .Values.colour | b64enc | quote }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      containers:
        - name: web
          image: {{ .Values.image | quote }}
          ports: [{containerPort: 8080}]
          envFrom: [{configMapRef: {name: {{ .Release.Name }}}}]
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Release.Name }}
spec:
  rules:
    - host: {{ .Release.Name }}.example
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: {{ .Release.Name }}, port: {number: 80}}}
