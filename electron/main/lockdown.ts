/** What a page may not do, stated once for every session and every web contents. */
import type { Session, WebContents } from 'electron'
import { isOurs } from './origin.ts'

/** Electron grants every permission that is asked for unless somebody refuses; here everything is refused. */
export function lockSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, done) => done(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  session.webRequest.onBeforeRequest(({ url }, done) => {
    done({ cancel: !isOurs(url) && !/^(devtools|data|blob):/.test(url) })
  })
  session.on('will-download', (event) => event.preventDefault())
}

/** No popups, no way out of our own pages, no embedded pages. */
export function lockContents(contents: WebContents): void {
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  contents.on('will-navigate', (event) => {
    if (!isOurs(event.url)) event.preventDefault()
  })
  contents.on('will-frame-navigate', (event) => {
    if (!isOurs(event.url)) event.preventDefault()
  })
  contents.on('will-redirect', (event) => {
    if (!isOurs(event.url)) event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
  // A page that does not let go of its window: prevented, its objection does not count.
  contents.on('will-prevent-unload', (event) => event.preventDefault())
  // A content policy says nothing of WebRTC: without this, and without names (main.ts), a page could send through it.
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp')
}
