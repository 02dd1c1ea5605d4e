/** What the palette offers, whatever it is. */
import type { Component } from 'vue'
import type { CommandId } from '../../commands/catalogue.ts'

export interface Item {
  /** Stays: what was chosen lately is kept by it. */
  readonly id: string
  readonly group: string
  /** Text of the system as it is to be shown: it cannot turn the line. */
  readonly title: string
  /** More words by which it is found. */
  readonly words?: string
  /** Said at the end of the row. */
  readonly hint?: string
  /** Key of the command that it is. */
  readonly key?: string
  readonly icon?: Component
  /** Ink of a job's swatch. */
  readonly colour?: number
  /** Shown and not chosen: a fault. */
  readonly isOff?: boolean
  /** Text that choosing it puts into the field, where the palette stays. */
  readonly fill?: string
  readonly run: () => void
}
/** A command of the palette that only sometimes is one of the catalogue: there it is listed by its own title. */
export interface Verb extends Item {
  readonly of?: CommandId
}
/** One that was found, with what of its title matched. */
export interface Ranked {
  readonly item: Item
  readonly parts: readonly { readonly text: string; readonly isHit: boolean }[]
}
