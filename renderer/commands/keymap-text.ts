/** Keymap as text: stored, exported and imported. */
import * as z from 'zod'
import { catalogue } from './catalogue.ts'
import { faultsOf, KEYS_MOST, type KeyFault } from './conflicts.ts'

export const storedKeys = z.record(z.string().max(64), z.array(z.string().min(1).max(32)).max(KEYS_MOST))
export type ChosenKeys = z.infer<typeof storedKeys>

const exported = z.object({ kind: z.literal('sluice-keymap'), version: z.literal(1), keys: storedKeys })
/** Limit for imports; a keymap of every command is a tenth of it. */
const CHARS_MOST = 100_000

export const exportKeymap = (chosen: ChosenKeys): string =>
  `${JSON.stringify({ kind: 'sluice-keymap', version: 1, keys: chosen }, null, 2)}\n`

export type Imported =
  | {
      readonly ok: true
      readonly chosen: ChosenKeys
      /** Commands that this version does not have. */ readonly unknown: string[]
    }
  | {
      readonly ok: false
      readonly why: string
      /** Commands with conflicting or invalid keys; empty if the text is not a keymap. */
      readonly faults: readonly ImportFault[]
    }
/** Reason why the keys of one command cannot be used. */
export interface ImportFault {
  readonly id: string
  readonly title: string
  readonly keys: readonly string[]
  readonly why: string
}

const titles = new Map<string, string>(catalogue.map((c) => [c.id, c.title]))
const entryKeys = (id: string): readonly string[] => catalogue.find((c) => c.id === id)?.keys ?? []
function split(keys: ChosenKeys): { chosen: ChosenKeys; unknown: string[] } {
  const entries = Object.entries(keys)
  return {
    chosen: Object.fromEntries(entries.filter(([id]) => titles.has(id))),
    unknown: entries.map(([id]) => id).filter((id) => !titles.has(id)),
  }
}
function faults(chosen: ChosenKeys): Map<string, KeyFault> {
  return faultsOf(catalogue, new Map(catalogue.map((c) => [c.id, chosen[c.id] ?? c.keys])))
}

const refuse = (why: string, of: readonly ImportFault[] = []): Imported => ({ ok: false, why, faults: of })

export function importKeymap(text: string): Imported {
  if (text.length > CHARS_MOST) return refuse('the text is too long for a keymap')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return refuse('the text is not JSON')
  }
  const read = exported.safeParse(json)
  if (!read.success) return refuse('it is not a Sluice keymap')
  const { chosen, unknown } = split(read.data.keys)
  const against = Array.from(faults(chosen), ([id, fault]) => ({
    id,
    title: titles.get(id) ?? id,
    keys: chosen[id] ?? entryKeys(id),
    why: fault.why,
  }))
  // Commands named in the text come first: the others are only the conflicting side.
  against.sort((a, b) => Number(chosen[b.id] !== undefined) - Number(chosen[a.id] !== undefined))
  const [first] = against
  return first ? refuse(`"${first.title}": ${first.why}`, against) : { ok: true, chosen, unknown }
}

/** Valid part of stored keys: another version may have other commands and other default keys. */
export function validKeys(kept: ChosenKeys): ChosenKeys {
  let { chosen } = split(kept)
  for (;;) {
    const bad = faults(chosen)
    const next = Object.fromEntries(Object.entries(chosen).filter(([id]) => !bad.has(id)))
    if (Object.keys(next).length === Object.keys(chosen).length) return chosen
    chosen = next
  }
}

/** Valid part of a keymap, as text, if the whole cannot be imported; null if the text is not a keymap. */
export function validPart(text: string): { readonly text: string; readonly commands: number } | null {
  const imported = importKeymap(text)
  if (imported.ok) return { text, commands: Object.keys(imported.chosen).length }
  if (imported.faults.length === 0) return null
  const read = exported.safeParse(JSON.parse(text))
  if (!read.success) return null
  const sound = validKeys(read.data.keys)
  return { text: exportKeymap(sound), commands: Object.keys(sound).length }
}
