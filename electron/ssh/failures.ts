/**
 * Failures of a session, and the exit codes of a command line.
 *
 * | code | meaning | tried again |
 * |---|---|---|
 * | SSH_CONFIG, SSH_NAME | a setting or a name cannot be used | no |
 * | SSH_HOST_KEY_UNKNOWN, _OTHER_TYPE | key not trusted yet; a person can trust it | no |
 * | SSH_HOST_KEY_CHANGED, _REVOKED, _WEAK | refused whatever the settings | no |
 * | SSH_HOST_KEY_UNREADABLE | known keys cannot be read, so no key is accepted | no |
 * | SSH_AUTH_NO_KEY, _REFUSED, _METHOD | no key to offer; none accepted; the server requires another method | no |
 * | SSH_ALGORITHMS | the server offers only algorithms that are no longer accepted | no |
 * | SSH_DNS, SSH_TCP, SSH_TIMEOUT, SSH_HANDSHAKE, SSH_JUMP, SSH_LOST | connecting, or the connection | yes |
 * | SSH_NOT_CONNECTED, SSH_BUSY, SSH_COMMAND_TEXT | command that was not sent | - |
 * | SSH_COMMAND_LOST, SSH_COMMAND_TIMEOUT, SSH_OUTPUT, SSH_CANCELLED | command with unknown outcome | - |
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
  /** With SSH_HOST_KEY_*: key presented by the server. */
  readonly hostKey?: HostKeyReport | undefined
}

export type SshResult<T> = Result<T, SshFailure>

/** True for a refusal: retrying cannot help before a person does something. */
export const isRefusal = (f: SshFailure): boolean => /^SSH_(CONFIG|NAME|HOST_KEY_.*|AUTH_.*|ALGORITHMS)$/.test(f.code)

/** Exit codes of the command line: 1 failed, 2 usage, 3 host key, 4 authentication, 6 unknown outcome of a command. */
export function exitCodeOf(f: { readonly code: string }): 1 | 2 | 3 | 4 | 6 {
  if (f.code === 'SSH_CONFIG' || f.code === 'SSH_NAME') return 2
  if (f.code.startsWith('SSH_HOST_KEY_')) return 3
  if (f.code.startsWith('SSH_AUTH_')) return 4
  if (/^SSH_(COMMAND_LOST|COMMAND_TIMEOUT|OUTPUT|CANCELLED)$/.test(f.code)) return 6
  return 1
}

/** Server text for display: one line of printable ASCII, bounded. */
export function plainLine(text: string, most = 200): string {
  const line = text
    .slice(0, most * 4)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}
