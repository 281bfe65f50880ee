/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const apiextensionsTypes = `
package apiextensions/v1

ConversionStrategyType = string
ResourceScope = string
ConditionStatus = string
CustomResourceDefinitionConditionType = string
FieldValueErrorReason = string: FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired
ValidationRules = []ValidationRule
JSONSchemaURL = string
JSONSchemaDependencies = map[string]JSONSchemaPropsOrStringArray
JSONSchemaDefinitions = map[string]JSONSchemaProps

CustomResourceDefinitionSpec
  group! string 1
  names! CustomResourceDefinitionNames 3
  scope! ResourceScope 4
  versions! []CustomResourceDefinitionVersion 7 atomic
  conversion *CustomResourceConversion 9
  preserveUnknownFields bool 10

CustomResourceConversion
  strategy! ConversionStrategyType 1
  webhook *WebhookConversion 2

WebhookConversion
  clientConfig *WebhookClientConfig 2
  conversionReviewVersions! []string 3 atomic

WebhookClientConfig
  url *string 3
  service *ServiceReference 1
  caBundle []byte 2

ServiceReference
  namespace! string 1
  name! string 2
  path *string 3
  port *int32 4

CustomResourceDefinitionVersion
  name! string 1
  served! bool 2
  storage! bool 3
  deprecated bool 7
  deprecationWarning *string 8
  schema *CustomResourceValidation 4
  subresources *CustomResourceSubresources 5
  additionalPrinterColumns []CustomResourceColumnDefinition 6 atomic
  selectableFields []SelectableField 9 atomic gate=CustomResourceFieldSelectors

SelectableField
  jsonPath! string 1

CustomResourceColumnDefinition
  name! string 1
  type! string 2
  format string 3
  description string 4
  priority int32 5
  jsonPath! string 6

CustomResourceDefinitionNames
  plural! string 1
  singular string 2
  shortNames []string 3 atomic
  kind! string 4
  listKind string 5
  categories []string 6 atomic

CustomResourceDefinitionCondition
  type! CustomResourceDefinitionConditionType 1
  status! ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

CustomResourceDefinitionStatus
  conditions+ []CustomResourceDefinitionCondition 1 map=type
  acceptedNames+ CustomResourceDefinitionNames 2
  storedVersions+ []string 3 atomic

CustomResourceDefinition
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CustomResourceDefinitionSpec 2
  status CustomResourceDefinitionStatus 3

CustomResourceValidation
  openAPIV3Schema *JSONSchemaProps 1

CustomResourceSubresources
  status *CustomResourceSubresourceStatus 1
  scale *CustomResourceSubresourceScale 2

CustomResourceSubresourceStatus

CustomResourceSubresourceScale
  specReplicasPath! string 1
  statusReplicasPath! string 2
  labelSelectorPath *string 3

ConversionReview
  ...meta.TypeMeta
  request *ConversionRequest 1
  response *ConversionResponse 2

ConversionRequest
  uid! UID 1
  desiredAPIVersion! string 2
  objects! []RawExtension 3 atomic

ConversionResponse
  uid! UID 1
  convertedObjects! []RawExtension 2 atomic
  result! meta.Status 3

JSONSchemaProps
  id string 1
  $schema JSONSchemaURL 2
  $ref *string 3
  description string 4
  type string 5
  format string 6
  title string 7
  default *JSON 8
  maximum *float64 9
  exclusiveMaximum bool 10
  minimum *float64 11
  exclusiveMinimum bool 12
  maxLength *int64 13
  minLength *int64 14
  pattern string 15
  maxItems *int64 16
  minItems *int64 17
  uniqueItems bool 18
  multipleOf *float64 19
  enum []JSON 20 atomic
  maxProperties *int64 21
  minProperties *int64 22
  required []string 23 atomic
  items *JSONSchemaPropsOrArray 24
  allOf []JSONSchemaProps 25 atomic
  oneOf []JSONSchemaProps 26 atomic
  anyOf []JSONSchemaProps 27 atomic
  not *JSONSchemaProps 28
  properties map[string]JSONSchemaProps 29
  additionalProperties *JSONSchemaPropsOrBool 30
  patternProperties map[string]JSONSchemaProps 31
  dependencies JSONSchemaDependencies 32
  additionalItems *JSONSchemaPropsOrBool 33
  definitions JSONSchemaDefinitions 34
  externalDocs *ExternalDocumentation 35
  example *JSON 36
  nullable bool 37
  x-kubernetes-preserve-unknown-fields *bool 38
  x-kubernetes-embedded-resource bool 39
  x-kubernetes-int-or-string bool 40
  x-kubernetes-list-map-keys []string 41 atomic
  x-kubernetes-list-type *string 42
  x-kubernetes-map-type *string 43
  x-kubernetes-validations ValidationRules 44 map=rule patch=merge key=rule

ValidationRule
  rule! string 1
  message string 2
  messageExpression string 3
  reason *FieldValueErrorReason 4
  fieldPath string 5
  optionalOldSelf *bool 6

ExternalDocumentation
  description string 1
  url string 2
`
