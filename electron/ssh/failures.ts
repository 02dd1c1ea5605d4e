/**
 * What can go wrong with a session, and the exit code that a command line ends with.
 *
 * | code | meaning | tried again |
 * |---|---|---|
 * | SSH_CONFIG, SSH_NAME | a setting or a name cannot be used | no |
 * | SSH_HOST_KEY_UNKNOWN, _OTHER_TYPE | nobody vouched for this key yet; a person can | no |
 * | SSH_HOST_KEY_CHANGED, _REVOKED, _WEAK | refused whatever the settings | no |
 * | SSH_HOST_KEY_UNREADABLE | what is known cannot be read, so nothing is | no |
 * | SSH_AUTH_NO_KEY, _REFUSED, _METHOD | nothing to offer; nothing taken; the server wants what is not done here | no |
 * | SSH_ALGORITHMS | the server offers only what is not accepted any more | no |
 * | SSH_DNS, SSH_TCP, SSH_TIMEOUT, SSH_HANDSHAKE, SSH_JUMP, SSH_LOST | the way there | yes |
 * | SSH_NOT_CONNECTED, SSH_BUSY, SSH_COMMAND_TEXT | a command that was not sent | - |
 * | SSH_COMMAND_LOST, SSH_COMMAND_TIMEOUT, SSH_OUTPUT, SSH_CANCELLED | a command of which the end is not known | - |
 */
import type { Failure, Result } from '#core/base/result.ts'
import type { HostKeyReport } from './host-key-report.ts'

export type SshCode =
  | 'SSH_CONFIG'
  | 'SSH_NAME'
  | `SSH_HOST_KEY_${'UNKNOWN' | 'OTHER_TYPE' | 'CHANGED' | 'REVOKED' | 'WEAK' | 'UNREADABLE'}`
  | `SSH_AUTH_${'NO_KEY' | 'REFUSED' | 'METHOD'}`
  | 'SSH_ALGORITHMS'
  | 'SSH_DNS'
  | 'SSH_TCP'
  | 'SSH_TIMEOUT'
  | 'SSH_HANDSHAKE'
  | 'SSH_JUMP'
  | 'SSH_LOST'
  | 'SSH_NOT_CONNECTED'
  | 'SSH_BUSY'
  | 'SSH_COMMAND_TEXT'
  | 'SSH_COMMAND_LOST'
  | 'SSH_COMMAND_TIMEOUT'
  | 'SSH_OUTPUT'
  | 'SSH_CANCELLED'
  | 'SSH_TRUST_STORE'

export interface SshFailure extends Failure {
  readonly code: SshCode
  /** With SSH_HOST_KEY_*: the key that the server showed. */
  readonly hostKey?: HostKeyReport | undefined
}

export type SshResult<T> = Result<T, SshFailure>

/** Whether trying again, without a person doing something first, can help. */
export const isRefusal = (f: SshFailure): boolean => /^SSH_(CONFIG|NAME|HOST_KEY_.*|AUTH_.*|ALGORITHMS)$/.test(f.code)

/** Exit codes of the command line: 1 failed, 2 usage, 3 host key, 4 authentication, 6 the end of a command is not known. */
export function exitCodeOf(f: { readonly code: string }): 1 | 2 | 3 | 4 | 6 {
  if (f.code === 'SSH_CONFIG' || f.code === 'SSH_NAME') return 2
  if (f.code.startsWith('SSH_HOST_KEY_')) return 3
  if (f.code.startsWith('SSH_AUTH_')) return 4
  if (/^SSH_(COMMAND_LOST|COMMAND_TIMEOUT|OUTPUT|CANCELLED)$/.test(f.code)) return 6
  return 1
}

/** Text of a server for a person: one line of printable ASCII, bounded. */
export function plainLine(text: string, most = 200): string {
  const line = text
    .slice(0, most * 4)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}
