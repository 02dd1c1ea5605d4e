/** A server of a cluster as everything above knows it: a shell. */
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import type { SshResult } from './failures.ts'
import type { Session } from './session.ts'

export class SshNode implements NodeConnection {
  readonly host: string
  readonly roles: NodeConnection['roles']
  readonly session: Session

  /** @param host  the name that the cluster has for it; several nodes may share an address. */
  constructor(host: string, roles: NodeConnection['roles'], session: Session) {
    this.host = host
    this.roles = roles
    this.session = session
  }

  /** Failures: those of the session when the node cannot be reached, or when how the command ended is not known. */
  exec(command: string): Promise<SshResult<ExecResult>> {
    return this.session.run(command)
  }
}
