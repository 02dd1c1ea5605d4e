/** What a number of the window means. Ids are `view.number`; a mark `data-explain` with the id stands where the number does. */
export interface Meaning {
  readonly id: string
  readonly title: string
  /** Empty where the thing has none: a name, a word. */
  readonly unit: string
  /** What it says of the file system. */
  readonly means: string
  /** How it is reckoned, in the terms of the field. Empty for what is read as it is printed. */
  readonly formula: string
  /** The parameter of a server that it is read from, or the part of a paper. */
  readonly source: string
  /** What it does not say. */
  readonly caveat?: string
}
