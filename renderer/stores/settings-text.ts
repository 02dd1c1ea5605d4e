/**
 * All settings of the window as JSON text, for storage and export, imported completely or not at all. Settings missing
 * in the text are not changed.
 */
import * as z from 'zod'
import type { Notice } from '#core/api/frames.ts'
import { importKeymap, type ChosenKeys } from '../commands/keymap-text.ts'
import { knownSettings, settingsObject, type Settings } from './settings-schema.ts'

const VERSION = 1
/** A longer text is not a settings file. */
const LONGEST = 100_000
const NOT_READ = 'The settings were not imported'
const UNAFFECTED = 'current settings'

const head = z.object({ sluice: z.literal('settings'), version: z.number().int().positive() })
const schema = z.strictObject({
  sluice: z.literal('settings'),
  version: z.literal(VERSION),
  settings: settingsObject.partial().default({}),
  keys: z.unknown().optional(),
})

export interface ReadSettings {
  readonly settings: Partial<Settings>
  /** undefined: the text contains no keys. */
  readonly keys: ChosenKeys | undefined
}
export type Read = { readonly ok: true; readonly value: ReadSettings } | { readonly ok: false; readonly error: Notice }

/** @param keymap  keymap in its own export format. */
export const writeSettings = (settings: Settings, keymap: string): string =>
  `${JSON.stringify({ sluice: 'settings', version: VERSION, settings, keys: JSON.parse(keymap) as unknown }, null, 2)}\n`

const refuse = (code: string, why: string, next: string): Read => ({
  ok: false,
  error: { code, what: NOT_READ, why, unaffected: UNAFFECTED, next },
})

/** First fault with its path: `settings.theme: …`. */
function firstFault(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'unexpected structure'
  const place = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return `${place === '' ? 'it' : place} has unknown settings: ${issue.keys.slice(0, 3).join(', ')}`
  return `${place}: ${issue.message}`
}

export function readSettings(text: string): Read {
  if (text.length > LONGEST) return refuse('SETTINGS_LONG', 'the text is too long for settings', 'Choose another file.')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return refuse(
      'SETTINGS_JSON',
      `it is not valid JSON: ${error instanceof Error ? error.message : ''}`,
      'Correct the text.',
    )
  }
  const envelope = head.safeParse(json)
  if (!envelope.success)
    return refuse('SETTINGS_OTHER', 'it is not a settings export of Sluice', 'Choose a file exported by Sluice.')
  if (envelope.data.version > VERSION)
    return refuse(
      'SETTINGS_NEWER',
      `it has format ${envelope.data.version}; this version reads up to ${VERSION}`,
      'Export it again from an older version, or install the newer one.',
    )
  const read = schema.safeParse(json)
  if (!read.success) return refuse('SETTINGS_FAULTY', firstFault(read.error), 'Correct this value.')
  const settings = knownSettings(read.data.settings)
  const { keys } = read.data
  if (keys === undefined) return { ok: true, value: { settings, keys: undefined } }
  const keymap = importKeymap(JSON.stringify(keys))
  if (!keymap.ok) return refuse('SETTINGS_KEYS', `keys: ${keymap.why}`, 'Correct this value, or remove "keys".')
  return { ok: true, value: { settings, keys: keymap.chosen } }
}
