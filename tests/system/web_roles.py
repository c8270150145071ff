"""web_roles.py TCP SOCKET: what each role may do; SOCKET's proxy says roles in X-Role."""
import sys

from web_client import ask, same

tcp, proxied = sys.argv[1:3]
# what takes which role, of a queue without jobs
LOOK = ['queues', 'jobs?queue=mail', 'cron', 'flows', 'me']
OPERATOR = {'kick': {'queue': 'mail', 'id': 'x'}, 'cancel': {'queue': 'mail', 'id': 'x'}, 'kick-all': {'queue': 'mail', 'state': 'dead'},
            'pause': {'queue': 'mail'}, 'resume': {'queue': 'mail'}, 'flow-kick': {'queue': 'mail', 'flow': 'f'},
            'flow-cancel': {'queue': 'mail', 'flow': 'f'}, 'kick-matching': {'most': '1'}, 'cancel-matching': {'most': '1', 'glob': 'none'},
            'bury-matching': {'most': '1', 'glob': 'none'}, 'stop': {'task': '99'}}
JOB = {'queue': 'mail', 'id': 'x', 'type': 't', 'payload': '1'}
ADMIN = {'cancel-all': {'queue': 'mail', 'state': 'dead'}, 'push': JOB, 'replace': JOB,
         **{f'cron-{verb}': {'queue': 'mail', 'name': 'n'} for verb in ('run', 'pause', 'resume')}}
ROLES = ['nobody', 'reader', 'operator', 'admin']


def lets(where, headers, role):
    """One with these headers may do what this role may, and is refused the rest."""
    may = ROLES.index(role)
    status, _, answer = ask(where, '/api/1/me', headers=headers)
    same((status, answer.get('role')), (200, role) if may else (401, None), f'{role}: is told so')
    for path in LOOK:
        same(ask(where, f'/api/1/{path}', headers=headers)[0] in (401, 403), may < 1, f'{role}: {path}')
    for least, paths in ((2, OPERATOR), (3, ADMIN)):
        for path, body in paths.items():
            status, _, answer = ask(where, f'/api/1/{path}', body, headers=headers)
            same(status in (401, 403), may < least, f'{role}: {path}')
            if 0 < may < least:
                same(answer['error'], 'you may look but not act' if least == 2 else 'only an admin may do this', f'{role}: {path}: why')


for name in ROLES[1:]:
    lets(tcp, {'Authorization': f'Bearer 0123456789abcdef-{name}'}, name)
lets(tcp, {'Authorization': 'Bearer 0123456789abcdef-none'}, 'nobody')
lets(tcp, {}, 'nobody')
lets(tcp, {'Authorization': 'Bearer 0123456789abcdef-reader', 'X-Role': 'admin'}, 'reader')

# the socket's peer is root or its own user, so an admin; the proxy's header takes from that
for name in ROLES[1:]:
    lets(proxied, {'X-Role': name}, name)
for headers in ({}, {'X-Role': ''}, {'X-Role': 'Admin'}, {'X-Role': 'admin,'}, {'X-Roles': 'admin'}, {'X-Role': 'nobody'}):
    same(ask(proxied, '/api/1/me', headers=headers)[2]['role'], 'reader', f'the least without a header that is right: {headers}')
