/**
 * `npm run security`: Electron's security checklist, with the line that implements each item and the test that verifies it. A
 * missing line or test makes an item open, and ends the report with exit code 1.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.mjs'

/**
 * @typedef {[file: string, holds: string]} Place a file, and what one of its lines has in it
 * @typedef {{ item: string, lines: Place[], tests: Place[] }} Item
 */

const MAIN_TEST = 'tests/node/electron-main.test.ts'
const WINDOW_TEST = 'tests/node/attacks/window.test.ts'
const PREFERENCES = 'finds no Node, no webview, no way out of its sandbox'

/**
 * In the order and nearly the wording of https://www.electronjs.org/docs/latest/tutorial/security
 * @type {readonly Item[]}
 */
export const CHECKLIST = [
  {
    item: 'Load only secure content',
    lines: [
      ['electron/main/window.ts', 'window.loadURL(`${APP_ORIGIN}/index.html`)'],
      ['electron/main/lockdown.ts', 'done({ cancel: !isAppAddress(url)'],
    ],
    tests: [[MAIN_TEST, 'gets no permission and no request out']],
  },
  {
    item: 'Do not enable Node.js integration for remote content',
    lines: [['electron/main/window.ts', 'nodeIntegration: false']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Enable context isolation',
    lines: [['electron/main/window.ts', 'contextIsolation: true']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Enable process sandboxing',
    lines: [
      ['electron/main/window.ts', 'sandbox: true'],
      ['electron/main/main.ts', 'app.enableSandbox()'],
    ],
    tests: [
      [MAIN_TEST, 'is sandboxed, isolated and loads the app scheme'],
      [WINDOW_TEST, 'takes no sandbox away, but where Chromium has none'],
    ],
  },
  {
    item: 'Handle session permission requests',
    lines: [['electron/main/lockdown.ts', 'session.setPermissionRequestHandler(']],
    tests: [[MAIN_TEST, 'gets no permission and no request out']],
  },
  {
    item: 'Do not disable webSecurity',
    lines: [['electron/main/window.ts', 'webSecurity: true']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Define a Content Security Policy',
    lines: [['electron/server/files.ts', 'export const contentPolicy']],
    tests: [[WINDOW_TEST, 'runs only its own files, and connects to no other host']],
  },
  {
    item: 'Do not enable allowRunningInsecureContent',
    lines: [['electron/main/window.ts', 'allowRunningInsecureContent: false']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Do not enable experimental features',
    lines: [['electron/main/window.ts', 'experimentalFeatures: false']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Do not use enableBlinkFeatures',
    lines: [['electron/main/switches.ts', "'enable-blink-features'"]],
    tests: [
      // Preferences are compared as a whole: an additional one would fail.
      [WINDOW_TEST, PREFERENCES],
    ],
  },
  {
    item: 'Do not use allowpopups for WebViews',
    lines: [['electron/main/window.ts', 'webviewTag: false']],
    tests: [[WINDOW_TEST, PREFERENCES]],
  },
  {
    item: 'Verify WebView options and parameters',
    lines: [['electron/main/lockdown.ts', "contents.on('will-attach-webview'"]],
    tests: [[MAIN_TEST, 'opens no popup, goes nowhere else, embeds nothing']],
  },
  {
    item: 'Disable or limit navigation',
    lines: [['electron/main/lockdown.ts', "contents.on('will-navigate'"]],
    tests: [[WINDOW_TEST, 'and navigates to what looks like it goes nowhere']],
  },
  {
    item: 'Disable or limit the creation of new windows',
    lines: [['electron/main/lockdown.ts', "contents.setWindowOpenHandler(() => ({ action: 'deny' }))"]],
    tests: [[MAIN_TEST, 'opens no popup, goes nowhere else, embeds nothing']],
  },
  {
    item: 'Do not use shell.openExternal with untrusted content',
    lines: [
      ['electron/main/open-external.ts', "if (url?.protocol !== 'https:')"],
      ['eslint.config.js', "property: 'openExternal'"],
    ],
    tests: [
      [WINDOW_TEST, '%j opens nothing'],
      [WINDOW_TEST, 'leave one file that opens the browser'],
    ],
  },
  {
    item: 'Use a current version of Electron',
    lines: [['package.json', '"electron": "']],
    tests: [['tests/node/packaging.real.test.ts', 'is told as a bill of materials of what ships, Electron among it']],
  },
  {
    item: 'Validate the sender of all IPC messages',
    lines: [['electron/main/host-link.ts', '!isAppFrame(senderFrame)']],
    tests: [[MAIN_TEST, 'hands a port to our own page only']],
  },
  {
    item: 'Avoid the file:// protocol, prefer custom protocols',
    lines: [
      ['electron/main/protocol.ts', 'protocol.handle(APP_SCHEME'],
      ['electron-builder.yml', 'grantFileProtocolExtraPrivileges: false'],
    ],
    tests: [['tests/node/attacks/app-paths.test.ts', 'what is ours is served as what it is']],
  },
  {
    item: 'Check which fuses you can change',
    lines: [['electron-builder.yml', 'runAsNode: false']],
    tests: [['tests/node/packaging.real.test.ts', 'has every fuse as it is meant to be']],
  },
  {
    item: 'Do not expose Electron APIs to untrusted web content',
    lines: [['electron/preload/preload.ts', "ipcRenderer.send('sluice:connect')"]],
    tests: [[MAIN_TEST, 'answers a page through main, the preload and a real port']],
  },
]

/**
 * `FILE:LINE` of the first line that contains the text.
 * @param {Place} place @param {string} folder @returns {string | undefined}
 */
function lineOf([file, holds], folder) {
  const path = join(folder, file)
  if (!existsSync(path)) return undefined
  const at = readFileSync(path, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(holds))
  return at < 0 ? undefined : `${file}:${at + 1}`
}

/**
 * Report, and the number of open items.
 * @param {readonly Item[]} [checklist] @param {string} [folder] of the checkout
 */
export function securityReport(checklist = CHECKLIST, folder = root) {
  let open = 0
  const text = checklist.map(({ item, lines, tests }, i) => {
    const placed = [
      ...lines.map((place) => ['line', place, lineOf(place, folder)]),
      ...tests.map((place) => ['test', place, lineOf(place, folder)]),
    ]
    const isOpen = placed.some(([, , found]) => found === undefined)
    if (isOpen) open += 1
    const rows = placed.map(
      ([kind, place, found]) => `      ${kind}  ${found ?? `MISSING in ${place?.[0]}`}  ${place?.[1]}`,
    )
    return [`${String(i + 1).padStart(2)}. ${isOpen ? 'OPEN' : 'done'}  ${item}`, ...rows].join('\n')
  })
  return { text: `${text.join('\n')}\n\n${checklist.length - open} done, ${open} open\n`, open }
}

/** @returns {number} exit code */
export function security() {
  const { text, open } = securityReport()
  process.stdout.write(text)
  return open === 0 ? 0 : 1
}
