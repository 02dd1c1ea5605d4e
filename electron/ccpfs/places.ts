/** Paths of one user's ccPFS daemons: a folder that only this user can enter, and the sockets in it. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { runtimeFolder } from '../wire/private-socket.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Protocol name, to which keys are bound. */
export const PURPOSE = 'sluice-ccpfs/1'

/** Folder of the daemons: that of $SLUICE_CCPFS by default. */
export const ccpfsFolder = (env: Env = process.env, uid = process.getuid?.() ?? 0): string =>
  runtimeFolder('ccpfs', env, uid)

/** Sockets: of the metadata server, of the lock and data server, and of the client daemon for local programs. */
export const metaSocket = (folder = ccpfsFolder()): string => join(folder, 'meta.socket')
export const serverSocket = (folder = ccpfsFolder()): string => join(folder, 'server.socket')
export const clientSocket = (folder = ccpfsFolder()): string => join(folder, 'client.socket')

/** Name of this process for servers. */
export const thisProcess = (): string => `${hostname().slice(0, 64)}:${process.pid}`
