/**
 * Options common to all commands on clusters over SSH, accepted before or after the command name: cluster file, data folder, host
 * key verification.
 */
import { InvalidArgumentError, type Command } from 'commander'
import type { SshAccessOptions } from '../cluster/live/ssh-access.ts'
import { dataDir } from '../server/data-dir.ts'
import type { PromptPassphrase } from '../ssh/private-key.ts'
import { plain } from './output.ts'

const MOST = 1024
const ENTER = [0x0d, 0x0a]
const CANCEL = [0x03, 0x04]
const ERASE = [0x08, 0x7f]

/** Reads one line of the terminal byte by byte, without echo and without storing it; undefined if canceled. */
function readHidden(): Promise<Buffer | undefined> {
  const { stdin } = process
  const typed = Buffer.alloc(MOST)
  let length = 0
  return new Promise((resolve) => {
    const end = (isGiven: boolean): void => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      process.stderr.write('\n')
      const answer = isGiven ? Buffer.from(typed.subarray(0, length)) : undefined
      typed.fill(0)
      resolve(answer)
    }
    const take = (chunk: Buffer): void => {
      for (const byte of chunk) {
        if (ENTER.includes(byte)) return end(true)
        if (CANCEL.includes(byte)) return end(false)
        if (ERASE.includes(byte)) length = Math.max(0, length - 1)
        else if (length < MOST) typed[length++] = byte
      }
    }
    stdin.setRawMode(true)
    stdin.on('data', take)
    stdin.resume()
  })
}

let queue: Promise<unknown> = Promise.resolve()

const prompt: PromptPassphrase = ({ file, attempt }) => {
  const prompted = queue.then(() => {
    process.stderr.write(`${attempt > 1 ? 'Incorrect passphrase. ' : ''}Passphrase of ${plain(file)}: `)
    return readHidden()
  })
  // Several servers may need a key at the same time: prompts are shown one after the other.
  queue = prompted.catch(() => undefined)
  return prompted
}

/** Undefined without a terminal. */
const promptPassphrase: PromptPassphrase | undefined = process.stdin.isTTY && process.stderr.isTTY ? prompt : undefined

export interface ClustersFlags {
  readonly config?: string
  readonly data?: string
  readonly knownHosts?: string
  readonly trust?: readonly string[]
  readonly json?: true
}

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/

/** Parses a fingerprint as ssh-keygen prints it; trailing `=` from other tools is dropped. */
function fingerprint(text: string, before: readonly string[] = []): string[] {
  const bare = text.replace(/=+$/, '')
  if (!FINGERPRINT.test(bare)) throw new InvalidArgumentError('SHA256: and 43 characters.')
  return [...before, bare]
}

export function addClustersFlags(command: Command): Command {
  return command
    .option('--config <file>', 'YAML file of clusters, in addition to those of the data folder')
    .option('--data <folder>', 'data folder (default: $SLUICE_DATA, or that of this user)')
    .option('--known-hosts <file>', 'known_hosts file, read-only, instead of those in ~/.ssh and /etc/ssh')
    .option('--trust <fingerprint>', 'fingerprint of a host key to trust for this run; may be repeated', fingerprint)
}

/** Options of a command and its parents; the command's own take precedence. */
export function flagsOf(command: Command): ClustersFlags {
  let all: Record<string, unknown> = {}
  for (let c: Command | null = command; c; c = c.parent) all = { ...c.opts(), ...all }
  return all
}

export const dataFolder = (flags: ClustersFlags): string => flags.data ?? dataDir()

/** SSH access options for this run. @param reconnects  true to reconnect lost sessions. */
export function sshOptions(flags: ClustersFlags, reconnects: boolean): SshAccessOptions {
  const { knownHosts, trust } = flags
  return {
    reconnects,
    ask: promptPassphrase,
    ...(knownHosts === undefined ? {} : { knownHosts: [{ path: knownHosts, isRequired: true }] }),
    ...(trust === undefined ? {} : { trusted: trust }),
  }
}
