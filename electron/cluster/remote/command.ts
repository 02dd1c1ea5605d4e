/**
 * The one door to a server's shell: a command line that is not on the closed list (remote-shapes.ts) is not sent, and what needs root
 * is sent through `sudo -n` with absolute paths where the login is not root.
 *
 * Where sudoers has exact lists of parameters, a reading of several is split into those that are granted, one call each, unless the
 * whole of it is granted.
 */
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import type { NodeConnection } from '../../base/connection.ts'
import type { NodeFacts } from './facts.ts'
import { isGranted } from './sudo-grants.ts'
import { COMPOUND_SHAPES } from './compounds.ts'
import { throughHelper } from './helper.ts'
import { readingOf, REMOTE_COMMANDS, type Access, type CompoundShape } from './shapes.ts'
import { readLine, type Word } from './words.ts'

export type { Access } from './shapes.ts'

/** How a server's commands reach root's rights, from what was found out about it. */
export const accessOf = (facts: NodeFacts): Access => ({ isRoot: facts.isRoot, sudo: facts.sudo, lctl: facts.lctl })

const refuse = (code: 'REMOTE_COMMAND_REFUSED' | 'REMOTE_NO_RIGHT', why: string): Result<never> =>
  fail({
    code,
    what: code === 'REMOTE_NO_RIGHT' ? 'The login may not do this' : 'A command is not on the closed list',
    why,
    unaffected: 'Nothing was sent.',
  })

/** For messages: bounded and printable. */
const shown = (line: string): string => line.slice(0, 120).replace(/[^\x20-\x7e]/g, '?')

/** One call of lctl through sudo; a reading that is granted in parts only is several. */
function throughSudo(words: readonly Word[], raw: string, { sudo, lctl }: Access): string {
  const call = (rest: string): string => `sudo -n ${lctl} ${rest}`
  const args = words.slice(1).map((w) => w.text)
  const reading = readingOf(args)
  const isWhole = sudo.kind === 'broad' || sudo.grants.length === 0 || isGranted(sudo.grants, lctl, args)
  if (!reading || reading.names.length === 1 || isWhole) return call(raw)
  const one = (name: string): readonly string[] => ['get_param', ...reading.flags, name]
  const granted = reading.names.filter((name) => isGranted(sudo.grants, lctl, one(name)))
  if (granted.length === 0) return call(raw)
  return granted.map((name) => call(one(name).map(shellQuote).join(' '))).join('; ')
}

function literalOfOne(words: readonly Word[], line: string, access: Access): Result<string> {
  const [program, ...rest] = words
  const args = rest.map((w) => w.text)
  const entry = REMOTE_COMMANDS.find((c) => c.program === program?.text)
  // The name must be written plainly: `'lctl'` is none of ours.
  if (!program || !entry || program.to - program.from !== program.text.length || !entry.takes(args)) {
    return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  }
  const end = words.at(-1)?.to ?? program.to
  const tail = line.slice(rest[0]?.from ?? program.to, end)
  const isLctl = entry.program === 'lctl'
  const named = isLctl ? access.lctl : entry.program
  if (access.isRoot || entry.needsRoot?.(args) === false) return ok(tail === '' ? named : `${named} ${tail}`)
  if (access.sudo.kind === 'none') return refuse('REMOTE_NO_RIGHT', access.sudo.text)
  const { sudo, lctl } = access
  const isHelped = sudo.kind === 'write' && sudo.hasHelper && args[0] === 'set_param'
  if (isLctl && isHelped && !isGranted(sudo.grants, lctl, args)) return throughHelper(args[1] ?? '', sudo)
  return ok(isLctl ? throughSudo(words, tail, access) : `sudo -n ${entry.path ?? entry.program} ${tail}`)
}

/**
 * What a line of the console becomes on a server: the text that is sent, for the review and the audit too.
 *
 * @returns  REMOTE_COMMAND_REFUSED for a line that is not on the list; REMOTE_NO_RIGHT where it needs root and there is no way.
 */
export function literalOf(
  line: string,
  access: Access,
  compounds: readonly CompoundShape[] = COMPOUND_SHAPES,
): Result<string> {
  if (!/^(?:lctl|\/[A-Za-z0-9_./-]{1,200})$/.test(access.lctl))
    return refuse('REMOTE_COMMAND_REFUSED', 'the path of lctl')
  // Without any way to root it is asked what would be sent with one: what needs none is sent.
  const hasNone = !access.isRoot && access.sudo.kind === 'none'
  const able: Access = hasNone ? { ...access, sudo: { ...access.sudo, kind: 'broad' } } : access
  const simple = (part: string): string | undefined => {
    const inner = literalOfLine(part, able)
    return inner.ok ? inner.value : undefined
  }
  for (const shape of compounds) {
    const text = shape.rewrite(line, able, simple)
    if (text !== undefined)
      return hasNone && text.includes('sudo -n ') ? refuse('REMOTE_NO_RIGHT', access.sudo.text) : ok(text)
  }
  return literalOfLine(line, access)
}

function literalOfLine(line: string, access: Access): Result<string> {
  const commands = readLine(line)
  if (!commands) return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  // Simple commands in a row: only ones that change nothing.
  if (commands.length > 1 && !commands.every(isHarmless)) return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  const out: string[] = []
  for (const words of commands) {
    const one = literalOfOne(words, line, access)
    if (!one.ok) return one
    out.push(one.value)
  }
  return ok(out.join('; '))
}

const isHarmless = (words: readonly Word[]): boolean =>
  words[1]?.text !== 'set_param' &&
  !/^(?:stop|reset-failed|set)$/.test(words[1]?.text ?? '') &&
  words[2]?.text !== 'set'

/** Exit code of what was not sent for want of rights: as a shell has it for a program that it may not run. */
const MAY_NOT = 126

/**
 * The node as everything above may use it: its shell takes what is on the list. What the login has no right to is not sent, and answered as
 * a shell would; a line that is not on the list is not sent either, and fails with REMOTE_COMMAND_REFUSED.
 */
export function gate(node: NodeConnection, access: Access): NodeConnection {
  return {
    host: node.host,
    roles: node.roles,
    timers: node.timers,
    exec: async (command) => {
      const literal = literalOf(command, access)
      if (literal.ok) return node.exec(literal.value)
      if (literal.error.code !== 'REMOTE_NO_RIGHT') return literal
      return ok({ stdout: '', stderr: `sluice: ${formatFailure(literal.error)}\n`, code: MAY_NOT })
    },
  }
}
