/** Entries of an AppMenu. */
import type { Component } from 'vue'
import type { Level } from '#core/api/frames.ts'

/** Action of a menu. `isChosen` makes it one of several alternatives, `isOn` a switch; both show a check mark if true. */
export interface MenuItem {
  readonly title: string
  readonly select: () => unknown
  readonly icon?: Component | undefined
  /** Color of a swatch before the title. */
  readonly swatch?: string | undefined
  /** Level of a status shape before the title. */
  readonly level?: Level | undefined
  /** Explanation after the title. */
  readonly note?: string | undefined
  /** Tooltip. */
  readonly about?: string | undefined
  /** State after the note. */
  readonly state?: { readonly level: Level; readonly word: string } | undefined
  /** Value at the right edge. */
  readonly end?: string | undefined
  readonly testid?: string | undefined
  /** Reason why the item is disabled; null or undefined while it is not. */
  readonly off?: string | null | undefined
  /** Disables the item without a reason. */
  readonly isDisabled?: boolean | undefined
  readonly isChosen?: boolean | undefined
  readonly isOn?: boolean | undefined
  readonly isDanger?: boolean | undefined
}
/** Title of the items that follow, up to the next heading or separator. */
export interface MenuHeading {
  readonly heading: string
}
/** Line of text between items. */
export interface MenuText {
  readonly text: string
  readonly testid?: string | undefined
}
export interface MenuSeparator {
  readonly separator: true
}
export type MenuEntry = MenuItem | MenuHeading | MenuText | MenuSeparator

export interface MenuSection {
  readonly title: string
  /** True if a line separates it from the section above. */
  readonly isRuled: boolean
  readonly entries: readonly (MenuItem | MenuText)[]
}

/** Splits entries into sections, at headings and separators. */
export function menuSections(entries: readonly MenuEntry[]): readonly MenuSection[] {
  let section = { title: '', isRuled: false, entries: [] as (MenuItem | MenuText)[] }
  const sections = [section]
  for (const entry of entries) {
    if ('heading' in entry) sections.push((section = { title: entry.heading, isRuled: false, entries: [] }))
    else if ('separator' in entry) sections.push((section = { title: '', isRuled: true, entries: [] }))
    else section.entries.push(entry)
  }
  return sections.filter((s) => s.title !== '' || s.entries.length > 0)
}
