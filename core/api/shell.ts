/**
 * Functions of the desktop shell for a window: files at a place chosen by the user, a native menu, notifications, the system's keychain.
 * A browser and a terminal have none of them, and the window uses alternatives there.
 *
 * Paths stay in the host: a window gets only the file's name, for display.
 */
import { eventIterator, oc } from '@orpc/contract'
import * as z from 'zod'
import { errors } from './parts.ts'

/** Modifiers and a key in native menu notation: `CmdOrCtrl+Shift+K`. A single letter would be captured from every text field. */
export const accelerator = z
  .string()
  .max(40)
  .regex(
    /^(?:(?:(?:CmdOrCtrl|Alt)\+(?:Shift\+)?|CmdOrCtrl\+Alt\+(?:Shift\+)?)(?:[A-Z0-9]|[,.;'[\]\\/=-]|Plus|Space|Enter|Tab|Backspace|Delete|Up|Down|Left|Right|Home|End|PageUp|PageDown|F(?:[1-9]|1\d|2[0-4]))|(?:Shift\+)?F(?:[1-9]|1\d|2[0-4]))$/,
  )

export const commandId = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z0-9][\w.:-]*$/)

export const menuEntry = z.object({
  id: commandId,
  title: z.string().min(1).max(80),
  /** null: only in the menu, or the window handles the key itself. */
  accelerator: accelerator.nullable().default(null),
  enabled: z.boolean().default(true),
})
export const menuModel = z.object({
  /** Menus in addition to the standard ones (Edit, View, Window). */
  menus: z
    .array(z.object({ title: z.string().min(1).max(40), entries: z.array(menuEntry).max(80) }))
    .max(12)
    .default([]),
})
export type MenuModel = z.infer<typeof menuModel>

/** Power and session events of the machine. */
export const powerEvent = z.enum(['suspend', 'resume', 'lock-screen', 'unlock-screen'])
export type PowerEvent = z.infer<typeof powerEvent>

export const shellEvent = z.discriminatedUnion('kind', [
  /** A command of the menu was chosen. */
  z.object({ kind: z.literal('command'), id: commandId }),
  /** `locked`: clusters that lost the right to write, or left enforce, because of it. */
  z.object({ kind: z.literal('power'), what: powerEvent, locked: z.array(z.string()).max(64) }),
  /** A notification of an alert was chosen; `incident` is the notebook that the alert opened. */
  z.object({ kind: z.literal('alert'), id: z.string().max(64), incident: z.string().max(32).nullable() }),
])
export type ShellEvent = z.infer<typeof shellEvent>

/** Most base64 characters of one part. */
const PART_CHARS = 700_000
/** Largest file that a window can save, bytes; use the command line for larger ones. */
const FILE_BYTES = 4 * 2 ** 30

const saveId = z.string().min(8).max(64)

export const shellVerbs = {
  about: oc.output(
    z.object({
      /** True if `save` asks for a file location. */
      saves: z.boolean(),
      /** True if `setMenu` has an effect. */
      menu: z.boolean(),
      notifies: z.boolean(),
      links: z.boolean(),
      /** can: the keychain can store passphrases; why: the reason if not; kept: key files with a stored passphrase. */
      secrets: z.object({ can: z.boolean(), why: z.string(), kept: z.array(z.string()) }),
    }),
  ),
  /** Asks for a file location. The file is then sent in parts by `put`. `id` is null if the user canceled. */
  save: oc
    .errors(errors)
    .input(z.object({ name: z.string().min(1).max(200), bytes: z.number().int().min(0).max(FILE_BYTES) }))
    .output(z.object({ id: saveId.nullable() })),
  /** One part, in order. After the last one the file gets its final name, which is returned. */
  put: oc
    .errors(errors)
    .input(
      z.object({
        id: saveId,
        at: z.number().int().nonnegative(),
        base64: z.base64().max(PART_CHARS),
        isLast: z.boolean(),
      }),
    )
    .output(z.object({ name: z.string().nullable() })),
  /** Discards an incomplete file. */
  drop: oc.input(z.object({ id: saveId })).output(z.void()),
  setMenu: oc.input(menuModel).output(z.void()),
  /** Opens a page in the system's browser; https only. */
  openLink: oc
    .errors(errors)
    .input(z.object({ url: z.string().max(2000) }))
    .output(z.void()),
  /** Removes passphrases from the keychain: of one key file, or of all (null). */
  forgetSecrets: oc
    .errors(errors)
    .input(z.object({ file: z.string().max(4096).nullable() }))
    .output(z.object({ forgotten: z.number().int() })),
  events: oc.output(eventIterator(shellEvent)),
}
