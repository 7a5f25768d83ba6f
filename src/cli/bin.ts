#!/usr/bin/env node
/** The entry of the process. What it loads is compiled once, and kept by Node in its own place: the first of all commands pays for it. */
import module from 'node:module'

// Node 22.8 and newer; NODE_DISABLE_COMPILE_CACHE turns it off.
if ('enableCompileCache' in module) (module.enableCompileCache as () => void)()
await import('./process.ts')
