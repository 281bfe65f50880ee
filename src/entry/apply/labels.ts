/** The label that members of an ApplySet have (KEP-3659). Its value is the ID of the ApplySet. */
export const partOfLabel = 'applyset.kubernetes.io/part-of'
