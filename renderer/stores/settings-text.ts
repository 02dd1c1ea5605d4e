/**
 * All settings of the window as one JSON text: written to be kept or carried to another machine, read as a whole or not at all.
 * What a text does not name stays as it is.
 */
import * as z from 'zod'
import type { Notice } from '#core/api/frames.ts'
import { importKeymap, type ChosenKeys } from '../commands/keymap-text.ts'
import { knownSettings, settingsObject, type Settings } from './settings-schema.ts'

const VERSION = 1
/** A text that is longer is something else. */
const LONGEST = 100_000
const NOT_READ = 'The settings were not taken over'
const UNAFFECTED = 'the settings as they are'

const head = z.object({ sluice: z.literal('settings'), version: z.number().int().positive() })
const whole = z.strictObject({
  sluice: z.literal('settings'),
  version: z.literal(VERSION),
  settings: settingsObject.partial().default({}),
  keys: z.unknown().optional(),
})

export interface ReadSettings {
  readonly settings: Partial<Settings>
  /** undefined: the text says nothing of keys. */
  readonly keys: ChosenKeys | undefined
}
export type Read = { readonly ok: true; readonly value: ReadSettings } | { readonly ok: false; readonly error: Notice }

/** @param keymap  the keymap as its own export writes it. */
export const writeSettings = (settings: Settings, keymap: string): string =>
  `${JSON.stringify({ sluice: 'settings', version: VERSION, settings, keys: JSON.parse(keymap) as unknown }, null, 2)}\n`

const refuse = (code: string, why: string, next: string): Read => ({
  ok: false,
  error: { code, what: NOT_READ, why, unaffected: UNAFFECTED, next },
})

/** The first fault, with its place: `settings.theme: …`. */
function firstFault(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'it has another shape'
  const place = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return `${place === '' ? 'it' : place} names ${issue.keys.slice(0, 3).join(', ')}, which is no setting`
  return `${place}: ${issue.message}`
}

export function readSettings(text: string): Read {
  if (text.length > LONGEST)
    return refuse('SETTINGS_LONG', 'the text is longer than any settings', 'Choose another file.')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return refuse('SETTINGS_JSON', `it is no JSON: ${error instanceof Error ? error.message : ''}`, 'Correct the text.')
  }
  const envelope = head.safeParse(json)
  if (!envelope.success)
    return refuse('SETTINGS_OTHER', 'it is no export of settings of Sluice', 'Choose a text that was exported here.')
  if (envelope.data.version > VERSION)
    return refuse(
      'SETTINGS_NEWER',
      `it is of format ${envelope.data.version}, and this version reads up to ${VERSION}`,
      'Export it again from an older version, or install the newer one.',
    )
  const read = whole.safeParse(json)
  if (!read.success) return refuse('SETTINGS_FAULTY', firstFault(read.error), 'Correct that place.')
  const settings = knownSettings(read.data.settings)
  const { keys } = read.data
  if (keys === undefined) return { ok: true, value: { settings, keys: undefined } }
  const keymap = importKeymap(JSON.stringify(keys))
  if (!keymap.ok) return refuse('SETTINGS_KEYS', `keys: ${keymap.why}`, 'Correct that place, or leave "keys" out.')
  return { ok: true, value: { settings, keys: keymap.chosen } }
}
