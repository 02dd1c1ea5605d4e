/**
 * Command handlers of mounted components. Keys come from the keymap; a view's commands take precedence over global
 * ones, and of two components that handle the same key the one mounted last. Single keys act only when no text is being
 * typed and no dialog or menu is open; combinations with Ctrl or Cmd always act, except that beneath a modal dialog
 * only the palette's does. Esc leaves a text field. Arrow keys are left to a choice that has the focus. A handler that
 * returns false passes the key on. An unavailable command shows its reason instead.
 */
import { onScopeDispose, shallowRef } from 'vue'
import { announce } from './announcements.ts'
import { unavailableReason } from '../stores/availability.ts'
import { catalogue, type CommandId } from '../commands/catalogue.ts'
import {
  isModalOpen,
  isModifier,
  isPressable,
  isTyping,
  keyName,
  somethingFloats,
  takesArrows,
} from '../commands/key-press.ts'
import { useKeymapStore } from '../commands/keymap.ts'

export type Handler = (event?: KeyboardEvent) => unknown
export type Handlers = Partial<Record<CommandId, Handler>>

/** Shows why a command is unavailable. @returns true if it is */
function isHeldBack(id: CommandId): boolean {
  const why = unavailableReason(id)
  if (why !== null) announce(why)
  return why !== null
}

/** Time within which the next press of a sequence must follow, ms. */
const SEQUENCE_MS = 1500

const scopeOf = new Map<string, string>(catalogue.map((c) => [c.id, c.scope]))
const parts: Handlers[] = []
/** Presses of an unfinished sequence; shown by the frame. */
export const pending = shallowRef('')
let forget: ReturnType<typeof setTimeout> | undefined

function wait(presses: string): void {
  clearTimeout(forget)
  pending.value = presses
  if (presses !== '') forget = setTimeout(() => (pending.value = ''), SEQUENCE_MS)
}

interface Candidates {
  handlers: Handler[]
  /** More presses could complete a command. */
  isPrefix: boolean
}
const levelOf = (id: string): 0 | 1 | 2 => {
  const scope = scopeOf.get(id)
  return scope === 'everywhere' ? 2 : scope === 'table' || scope === 'chart' ? 1 : 0
}
/** Commands whose keys act while a modal dialog is open. */
const OVER_DIALOGS: ReadonlySet<CommandId> = new Set(['frame.palette'])

/** Candidates for `presses`: of the current view, then of its targeted part, then global. */
function candidates(presses: string): readonly [Candidates, Candidates, Candidates] {
  const keymap = useKeymapStore()
  const none = (): Candidates => ({ handlers: [], isPrefix: false })
  const levels: [Candidates, Candidates, Candidates] = [none(), none(), none()]
  const isModal = isModalOpen()
  for (const part of parts.toReversed()) {
    for (const [id, handler] of Object.entries(part) as [CommandId, Handler][]) {
      if (isModal && !OVER_DIALOGS.has(id)) continue
      const side = levels[levelOf(id)]
      for (const keys of keymap.keysOf(id)) {
        if (keys === presses) side.handlers.push((event) => isHeldBack(id) || handler(event))
        else if (keys.startsWith(`${presses} `)) side.isPrefix = true
      }
    }
  }
  return levels
}

/** Esc leaves a text field that does not handle it, so that no field traps the keyboard. */
function leaveField({ target }: KeyboardEvent): void {
  if (target instanceof HTMLElement && !somethingFloats()) target.blur()
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isModifier(event)) return
  const name = keyName(event)
  if (name === 'Escape' && isTyping(event.target)) return leaveField(event)
  if (!name.startsWith('mod+') && (isTyping(event.target) || somethingFloats())) return
  if ((name === 'Enter' || name === 'Space') && isPressable(event.target)) return
  if (/^(Shift\+)?Arrow/.test(name) && takesArrows(event.target)) return
  const begun = pending.value
  wait('')
  if (begun !== '' && name === 'Escape') {
    event.preventDefault()
    return
  }
  // If the presses do not continue the sequence, the last one may begin a new one.
  for (const presses of begun === '' ? [name] : [`${begun} ${name}`, name]) {
    const levels = candidates(presses)
    for (const { handlers, isPrefix } of levels) {
      if (handlers.some((handler) => handler(event) !== false)) event.preventDefault()
      else if (isPrefix) {
        wait(presses)
        event.preventDefault()
      } else continue
      return
    }
    // A complete sequence is consumed even if nothing handles it: its last key alone may be another command.
    if (presses !== name && levels.some(({ handlers }) => handlers.length > 0)) {
      event.preventDefault()
      return
    }
  }
}

/** Registers command handlers for the lifetime of the calling component. */
export function useCommands(handlers: Handlers): void {
  if (parts.length === 0) window.addEventListener('keydown', onKey)
  parts.push(handlers)
  onScopeDispose(() => {
    parts.splice(parts.indexOf(handlers), 1)
    if (parts.length === 0) {
      window.removeEventListener('keydown', onKey)
      wait('')
    }
  })
}

/** Runs a command as its key would, for the palette and the menu. @returns true if a component handled it */
export function runCommand(id: CommandId): boolean {
  return parts.toReversed().some((part) => part[id] !== undefined && (isHeldBack(id) || part[id]() !== false))
}

/** Possible next presses after `presses`, with the commands they lead to. */
export function nextPresses(presses: string): { press: string; titles: string[] }[] {
  const keymap = useKeymapStore()
  const next = new Map<string, string[]>()
  for (const { id, title } of catalogue) {
    if (!parts.some((part) => part[id] !== undefined)) continue
    for (const keys of keymap.keysOf(id)) {
      if (!keys.startsWith(`${presses} `)) continue
      const [press = ''] = keys.slice(presses.length + 1).split(' ')
      next.set(press, [...(next.get(press) ?? []), title])
    }
  }
  return [...next].map(([press, titles]) => ({ press, titles }))
}

/** Commands that are currently handled. */
export const handledCommands = (): ReadonlySet<CommandId> =>
  new Set(parts.flatMap((part) => Object.keys(part) as CommandId[]))
