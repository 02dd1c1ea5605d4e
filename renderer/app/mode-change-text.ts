/** Text of the confirmation of a mode or controller change: what is written to the servers, and what is removed. */
import { definitionOf } from '#core/controllers/registry.ts'
import type { StatusFrame } from '#core/api/frames.ts'
import type { ModeChange } from '../stores/enforcement.ts'
import { modeNames } from '../stores/source.ts'
import { plainText } from '../format/plain-text.ts'

const UNAFFECTED = 'Manually committed rules are unaffected.'

export interface ModeChangeText {
  readonly title: string
  readonly effect: string
  /** Label of the button that confirms. */
  readonly action: string
}

type Now = Pick<StatusFrame, 'mode' | 'controller' | 'source'>

export function modeChangeText(now: Now, { mode, controller }: ModeChange): ModeChangeText {
  const cluster = plainText(now.source.cluster)
  const next = { mode: mode ?? now.mode, controller: controller ?? now.controller }
  const title = (name: StatusFrame['controller']): string => definitionOf(name).title
  const hasRules = (name: StatusFrame['controller']): boolean => definitionOf(name).rulePrefix !== null
  const isEnforced = next.mode === 'enforce'
  const removed =
    now.mode === 'enforce' && hasRules(now.controller) && (!isEnforced || next.controller !== now.controller)
      ? [`The rules of ${title(now.controller)} are removed from all servers.`]
      : []
  const written =
    isEnforced && hasRules(next.controller)
      ? [`${title(next.controller)} writes the rules that it computes, each under a timer on its server.`]
      : isEnforced
        ? ['No controller writes rules.']
        : []
  const effect = [...removed, ...written, UNAFFECTED].join(' ')
  if (mode === null || mode === now.mode) {
    const name = title(next.controller)
    return { title: `Change the controller of ${cluster} to ${name}?`, effect, action: `Change to ${name}` }
  }
  const change = controller === null ? '' : ` with ${title(controller)}`
  const action = `Switch to ${modeNames[next.mode]}`
  return { title: `Switch ${cluster} to ${modeNames[next.mode]}${change}?`, effect, action }
}
