/** A keymap as a text that is kept, exported and read again. */
import * as z from 'zod'
import { catalogue } from './catalogue.ts'
import { faultsOf, KEYS_MOST, type KeyFault } from './conflicts.ts'

export const keptKeys = z.record(z.string().max(64), z.array(z.string().min(1).max(32)).max(KEYS_MOST))
export type ChosenKeys = z.infer<typeof keptKeys>

const exported = z.object({ kind: z.literal('sluice-keymap'), version: z.literal(1), keys: keptKeys })
/** A keymap of every command is a tenth of it. */
const CHARS_MOST = 100_000

export const exportKeymap = (chosen: ChosenKeys): string =>
  `${JSON.stringify({ kind: 'sluice-keymap', version: 1, keys: chosen }, null, 2)}\n`

export type Imported =
  | {
      readonly ok: true
      readonly chosen: ChosenKeys
      /** Commands that this version does not have. */ readonly unknown: string[]
    }
  | { readonly ok: false; readonly why: string }

const titles = new Map<string, string>(catalogue.map((c) => [c.id, c.title]))
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

export function importKeymap(text: string): Imported {
  if (text.length > CHARS_MOST) return { ok: false, why: 'the text is longer than a keymap' }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { ok: false, why: 'the text is not JSON' }
  }
  const read = exported.safeParse(json)
  if (!read.success) return { ok: false, why: 'it is no keymap of Sluice' }
  const { chosen, unknown } = split(read.data.keys)
  const [first] = faults(chosen)
  return first
    ? { ok: false, why: `"${titles.get(first[0]) ?? first[0]}": ${first[1].why}` }
    : { ok: true, chosen, unknown }
}

/** What of kept keys still holds: another version may have other commands, and other keys by default. */
export function soundKeys(kept: ChosenKeys): ChosenKeys {
  let { chosen } = split(kept)
  for (;;) {
    const bad = faults(chosen)
    const next = Object.fromEntries(Object.entries(chosen).filter(([id]) => !bad.has(id)))
    if (Object.keys(next).length === Object.keys(chosen).length) return chosen
    chosen = next
  }
}
