/** Item of the palette. */
import type { Component } from 'vue'
import type { CommandId } from '../../commands/catalogue.ts'
import type { Need } from '../../commands/command.ts'

export interface Item {
  /** Stable: recently chosen items are stored by it. */
  readonly id: string
  readonly group: string
  /** Text of the system, made safe for display (no bidi controls). */
  readonly title: string
  /** Keywords by which it is found, too. */
  readonly keywords?: string
  /** Shown at the end of the row. */
  readonly hint?: string
  /** Key of its command. */
  readonly key?: string
  readonly icon?: Component
  /** Series color of a job's swatch. */
  readonly colour?: number
  /** Reason why it is unavailable; shown in the row. */
  readonly why?: string
  /** Text that choosing it puts into the field; the palette stays open. */
  readonly fill?: string
  readonly run: () => void
}
/** Command of the palette that may also be in the catalogue; the catalogue's entry is then listed under this title. */
export interface Verb extends Item {
  readonly of?: CommandId
  /** Requirement; if it is in the catalogue, its entry declares this. */
  readonly needs?: Need
}
/** Search result, with the matched parts of its title. */
export interface Ranked {
  readonly item: Item
  readonly parts: readonly { readonly text: string; readonly isHit: boolean }[]
}
