/** Explanation of a number of the window. Ids are `view.number`; elements refer to them by `data-explain`. */
export interface Meaning {
  readonly id: string
  readonly title: string
  /** Empty for names and texts. */
  readonly unit: string
  /** Meaning for the file system. */
  readonly means: string
  /** Formula, in the terms of the field. Empty for values that are shown as read. */
  readonly formula: string
  /** Parameter of a server that it is read from, or section of a paper. */
  readonly source: string
  /** Limits of the value. */
  readonly caveat?: string
}
