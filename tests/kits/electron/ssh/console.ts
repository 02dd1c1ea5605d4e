/** The console's side of a session against a server of sshd.ts, with short timeouts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SshEndpoint } from '#electron/ssh/config.ts'
import { LIMITS, type SshLimits } from '#electron/ssh/limits.ts'
import { KeyRing, type PromptPassphrase } from '#electron/ssh/private-key.ts'
import { Session, type SessionParts } from '#electron/ssh/session.ts'
import { HostKeys, type HostKeySources } from '#electron/ssh/verdict.ts'
import { me, scratch } from './sshd.ts'

export const QUICK: SshLimits = {
  ...LIMITS,
  connectMs: 3000,
  handshakeMs: 5000,
  authMs: 8000,
  commandMs: 15_000,
  backoff: { baseMs: 50, mostMs: 200 },
  stableMs: 60_000,
}

export function knownHostsFile(text: string): string {
  const file = join(scratch(), 'known_hosts')
  writeFileSync(file, text)
  return file
}

export const knowing = (text: string, more: Partial<HostKeySources> = {}): HostKeys =>
  new HostKeys({ knownHosts: [{ path: knownHostsFile(text), isRequired: true }], ...more })

export const endpointOf = (
  port: number,
  identities: readonly string[],
  more: Partial<SshEndpoint> = {},
): SshEndpoint => ({
  host: '127.0.0.1',
  port,
  user: me,
  identities,
  identitiesOnly: true,
  knownHosts: [],
  jumps: [],
  ...more,
})

const sessions: Session[] = []

export function sessionOf(
  hostKeys: HostKeys,
  endpoint: SshEndpoint,
  more: Partial<SessionParts> & { readonly ask?: PromptPassphrase } = {},
): Session {
  const { ask, ...parts } = more
  const session = new Session(hostKeys, endpoint, {
    ring: new KeyRing(ask),
    random: () => 0.5,
    limits: QUICK,
    reconnects: false,
    ...parts,
  })
  sessions.push(session)
  return session
}

/** Stops all sessions; for afterEach. */
export const stopSessions = (): void => sessions.splice(0).forEach((s) => s.stop())
