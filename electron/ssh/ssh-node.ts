/** Server of a cluster reached by SSH. */
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import type { SshResult } from './failures.ts'
import type { Session } from './session.ts'

export class SshNode implements NodeConnection {
  readonly host: string
  readonly roles: NodeConnection['roles']
  readonly session: Session

  /** @param host  name of the server in the cluster; several nodes may share an address. */
  constructor(host: string, roles: NodeConnection['roles'], session: Session) {
    this.host = host
    this.roles = roles
    this.session = session
  }

  /** Failures: those of the session if the node cannot be reached, or if the outcome of the command is unknown. */
  exec(command: string): Promise<SshResult<ExecResult>> {
    return this.session.run(command)
  }
}
