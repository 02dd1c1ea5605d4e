/**
 * Emulated cluster in this process that follows the wall clock, for clients outside: over SSH, or over the socket of the
 * stand-ins.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { ROOT, type NodeUser } from '#core/emulator/lctl/host.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { ExecResult } from '../base/connection.ts'
import { READINGS, sudoersArgs } from '../cluster/discovery/readings.ts'
import { HELPER_PATH, LCTL_PATH, READER_PATH } from '../cluster/remote/sudo-scope.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import type { WireRequest } from './wire.ts'

/** The only user besides root. */
export const SUDO_USER = 'ops'

/** Rights of that user as root without a password. read, write: as the samples in resources/sudoers; write includes the helper. */
export const SUDO_KINDS = ['read', 'write', 'broad', 'none'] as const
export type SudoKind = (typeof SUDO_KINDS)[number]

export interface EmulationOptions {
  readonly speed: number
  readonly sudo: SudoKind
}

function sudoersOf(kind: SudoKind): readonly string[] {
  if (kind === 'none') return []
  if (kind === 'broad') return ['ALL']
  const read = [...READINGS.map((args) => `${LCTL_PATH} ${sudoersArgs(args)}`), `${READER_PATH} ""`]
  return kind === 'read' ? read : [...read, HELPER_PATH]
}

export class Emulation {
  readonly source: EmulatedSource
  readonly #users: ReadonlyMap<string, NodeUser>

  constructor(scenario: Scenario, { speed, sudo }: EmulationOptions) {
    this.source = new EmulatedSource(scenario, { epochSeconds: Math.floor(Date.now() / 1000) })
    this.source.setSpeed(speed)
    const ordinary: NodeUser = { name: SUDO_USER, uid: 1000, sudo: sudoersOf(sudo) }
    this.#users = new Map([ROOT, ordinary].map((u) => [u.name, u]))
  }

  /** All servers, and the node of the resource manager. */
  get nodes(): readonly EmulatedNode[] {
    return this.source.emulator.nodes
  }

  user(name: string): NodeUser | undefined {
    return this.#users.get(name)
  }

  start(): void {
    this.source.start(async () => undefined)
  }

  stop(): Promise<void> {
    return this.source.stop()
  }

  /** Runs a command line in a node's shell, at the current time. */
  exec(node: EmulatedNode, line: string, user: NodeUser): ExecResult {
    this.source.catchUp()
    return node.exec(line, user)
  }

  /** Failures: EMULATE_NODE, EMULATE_USER, EMULATE_SPEED. */
  answer({ kind, node: name, user: login, words }: WireRequest): Result<ExecResult> {
    if (kind === 'speed') return this.#setSpeed(name)
    const node = this.source.emulator.node(name)
    if (!node) return fail({ code: 'EMULATE_NODE', what: `there is no node ${name}` })
    const user = this.user(login)
    if (!user) return fail({ code: 'EMULATE_USER', what: `there is no user ${login}` })
    if (kind === 'line') return ok(this.exec(node, words.join(' '), user))
    this.source.catchUp()
    return ok(node.run(words, user))
  }

  #setSpeed(text: string): Result<ExecResult> {
    const speed = speedOf(text)
    if (speed === undefined) return fail({ code: 'EMULATE_SPEED', what: SPEEDS })
    this.source.setSpeed(speed)
    return ok({ code: 0, stdout: '', stderr: '' })
  }
}

export const SPEEDS = 'a speed is a number from 0 to 1000'

export function speedOf(text: string): number | undefined {
  const speed = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN
  return speed <= 1000 ? speed : undefined
}
