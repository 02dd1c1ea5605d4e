/** What the palette offers, whatever it is. */
import type { Component } from 'vue'
import type { CommandId } from '../../commands/catalogue.ts'
import type { Need } from '../../commands/command.ts'

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
  /** Why it cannot be chosen now: it is shown with that. */
  readonly why?: string
  /** Text that choosing it puts into the field, where the palette stays. */
  readonly fill?: string
  readonly run: () => void
}
/** A command of the palette that only sometimes is one of the catalogue: there it is listed by its own title. */
export interface Verb extends Item {
  readonly of?: CommandId
  /** What it cannot be done without; where it is of the catalogue, that says so. */
  readonly needs?: Need
}
/** One that was found, with what of its title matched. */
export interface Ranked {
  readonly item: Item
  readonly parts: readonly { readonly text: string; readonly isHit: boolean }[]
}
