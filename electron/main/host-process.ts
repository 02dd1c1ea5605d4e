/** Entry point of Electron's utility process: opens the host and serves it on every port that main passes. */
import type { Failure, Result } from '#core/base/result.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import type { FromHost, HostArguments } from './host-messages.ts'
import { runHost } from './host-loop.ts'
import { shellLink } from './shell-link.ts'

// Ctrl-C in a terminal reaches this process too: only main decides when to close.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)

const given = JSON.parse(process.argv[2] ?? '{}') as HostArguments
const post = (message: FromHost): void => process.parentPort.postMessage(message)
const link = shellLink(post)
const opening: Promise<Result<Host, Failure>> = openHost({ shell: 'desktop', ...given, around: link.shell })
runHost(process.parentPort, opening, post, (code) => process.exit(code), link.hear)
