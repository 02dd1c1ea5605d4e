/**
 * Keys that one connection offers, as one agent to ssh2: configured keys that the agent holds, then (unless
 * IdentitiesOnly) its other keys, then keys in files. A passphrase is requested only after the server has accepted that
 * very key.
 *
 * With IdentitiesOnly the agent's keys are filtered by the configured ones; if none of those can be read, no key of the
 * agent is offered. Nothing here can be forwarded: there is no stream to pass on.
 */
import { isAbsolute } from 'node:path'
import ssh2, { BaseAgent, type OpenSSHAgent, type ParsedKey, type SigningRequestOptions } from 'ssh2'
import { plainLine } from './failures.ts'
import { fingerprintOf, parseHostKey, RSA_BITS_LEAST } from './host-key.ts'
import { readIdentity, type Identity, type KeyRing } from './private-key.ts'

/** Agents that require a touch answer late; a dead agent must not block the rest. */
const LIST_MS = 5000

export interface IdentityChoice {
  readonly files: readonly string[]
  readonly isOnly: boolean
  /** SSH_AUTH_SOCK. */
  readonly agentSocket?: string | undefined
}

export interface Offered {
  readonly fingerprint: string
  readonly from: 'agent' | 'file'
}

type Keys = readonly (ParsedKey | Buffer)[]

export class Identities extends BaseAgent<ParsedKey | Buffer> {
  readonly #choice: IdentityChoice
  readonly #ring: KeyRing
  readonly #onWait: (isWaiting: boolean) => void
  readonly #agent: OpenSSHAgent | undefined
  /** Origin of each offered key, by fingerprint. */
  readonly #from = new Map<string, Identity | 'agent'>()
  /** Reasons why keys were not offered or not used, for the message when all are refused. */
  readonly notes: string[] = []

  /** @param onWait  called around every wait for a person. */
  constructor(choice: IdentityChoice, ring: KeyRing, onWait: (isWaiting: boolean) => void) {
    super()
    this.#choice = choice
    this.#ring = ring
    this.#onWait = onWait
    const socket = choice.agentSocket
    if (socket !== undefined && socket !== '') {
      if (isAbsolute(socket)) this.#agent = new ssh2.OpenSSHAgent(socket)
      else this.notes.push('SSH_AUTH_SOCK is not an absolute path')
    }
  }

  get offered(): readonly Offered[] {
    return [...this.#from].map(([fingerprint, from]) => ({ fingerprint, from: from === 'agent' ? 'agent' : 'file' }))
  }

  override getIdentities(cb: (err?: Error | null, keys?: (ParsedKey | Buffer)[]) => void): void {
    this.#collect().then(
      (keys) => cb(null, [...keys]),
      (e: unknown) => cb(e instanceof Error ? e : new Error(String(e))),
    )
  }

  async #collect(): Promise<Keys> {
    this.#from.clear()
    const files: Identity[] = []
    for (const file of this.#choice.files) {
      const identity = readIdentity(file)
      if (typeof identity === 'string') this.notes.push(identity)
      else if (identity) files.push(identity)
    }
    const wanted = new Set(files.map((f) => fingerprintOf(f.blob)))
    const held = await this.#held()
    const inAgent = new Set(held.map((k) => fingerprintOf(k)))
    const first = held.filter((k) => wanted.has(fingerprintOf(k)))
    const otherKeys = this.#choice.isOnly ? [] : held.filter((k) => !wanted.has(fingerprintOf(k)))
    const ownFiles = files.filter((f) => f.hasPrivate && !inAgent.has(fingerprintOf(f.blob)))
    for (const blob of [...first, ...otherKeys]) this.#from.set(fingerprintOf(blob), 'agent')
    for (const file of ownFiles) this.#from.set(fingerprintOf(file.blob), file)
    return [...first, ...otherKeys, ...ownFiles.map((f) => f.blob)].filter((blob) => this.#isStrong(blob))
  }

  #isStrong(blob: Buffer): boolean {
    const bits = parseHostKey(blob)?.bits
    if (bits === undefined || bits >= RSA_BITS_LEAST) return true
    this.notes.push(`${fingerprintOf(blob)} is RSA of ${bits} bits; ${RSA_BITS_LEAST} are needed`)
    this.#from.delete(fingerprintOf(blob))
    return false
  }

  /** Keys of the agent; empty if it does not answer. */
  #held(): Promise<readonly Buffer[]> {
    const agent = this.#agent
    if (!agent) return Promise.resolve([])
    return new Promise((resolve) => {
      const done = (why: string | undefined, keys: readonly Buffer[] = []): void => {
        clearTimeout(late)
        if (why !== undefined) this.notes.push(`the agent: ${why}`)
        resolve(keys)
      }
      const late = setTimeout(() => done('it did not answer'), LIST_MS)
      agent.getIdentities((err, keys) => {
        if (err || !keys) return done(plainLine(err?.message ?? 'it did not answer'))
        done(
          undefined,
          (keys as readonly ParsedKey[]).map((k) => k.getPublicSSH()),
        )
      })
    })
  }

  override sign(
    key: ParsedKey | Buffer,
    data: Buffer,
    options: SigningRequestOptions | ((err?: Error | null, signature?: Buffer) => void),
    done?: (err?: Error | null, signature?: Buffer) => void,
  ): void {
    const cb = typeof options === 'function' ? options : done
    const hash = typeof options === 'function' ? undefined : options.hash
    if (!cb) return
    const blob = Buffer.isBuffer(key) ? key : key.getPublicSSH()
    const refuse = (why: string): void => {
      this.notes.push(why)
      cb(new Error(why))
    }
    if (parseHostKey(blob)?.type === 'ssh-rsa' && hash !== 'sha256' && hash !== 'sha512') {
      return refuse(`${fingerprintOf(blob)}: the server takes RSA with SHA-1 only`)
    }
    const from = this.#from.get(fingerprintOf(blob))
    if (from === 'agent' && this.#agent) {
      this.#onWait(true)
      this.#agent.sign(blob, data, hash ? { hash } : {}, (err, signature) => {
        this.#onWait(false)
        if (err || !signature) return refuse(`${fingerprintOf(blob)}: the agent did not sign`)
        cb(null, signature)
      })
    } else if (from && from !== 'agent') void this.#signWithFile(from.file, data, hash, cb, refuse)
    else refuse(`${fingerprintOf(blob)}: this key was not offered`)
  }

  async #signWithFile(
    file: string,
    data: Buffer,
    hash: SigningRequestOptions['hash'],
    cb: (err?: Error | null, signature?: Buffer) => void,
    refuse: (why: string) => void,
  ): Promise<void> {
    const mayWait = this.#ring.isLocked(file)
    if (mayWait) this.#onWait(true)
    const key = await this.#ring.unlock(file).catch((e: unknown) => `${file}: ${String(e)}`)
    if (mayWait) this.#onWait(false)
    if (typeof key === 'string') return refuse(key)
    const signature: unknown = key.sign(data, hash)
    if (!Buffer.isBuffer(signature)) return refuse(`${file}: it cannot sign`)
    cb(null, signature)
  }
}
