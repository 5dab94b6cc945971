/* Names and types of the arguments of static probes, by provider, as types() of a script declares them. Of several
   declarations of a probe the one with as many arguments as the program's counts. TEXT[n] is a text of n bytes. */

provider postgresql {
	probe transaction__start(unsigned int lxid);
	probe transaction__commit(unsigned int lxid);
	probe transaction__abort(unsigned int lxid);
	probe lwlock__acquire(char *tranche, int mode);
	probe lwlock__release(char *tranche);
	probe lwlock__wait__start(char *tranche, int mode);
	probe lwlock__wait__done(char *tranche, int mode);
	probe lwlock__condacquire(char *tranche, int mode);
	probe lwlock__condacquire__fail(char *tranche, int mode);
	probe lwlock__acquire__or__wait(char *tranche, int mode);
	probe lwlock__acquire__or__wait__fail(char *tranche, int mode);
	probe lock__wait__start(unsigned int field1, unsigned int field2, unsigned int field3, unsigned int field4,
		unsigned int type, int mode);
	probe lock__wait__done(unsigned int field1, unsigned int field2, unsigned int field3, unsigned int field4,
		unsigned int type, int mode);
	probe query__parse__start(char *query);
	probe query__parse__done(char *query);
	probe query__rewrite__start(char *query);
	probe query__rewrite__done(char *query);
	probe query__start(char *query);
	probe query__done(char *query);
	probe statement__status(char *activity);
	probe sort__start(int kind, bool unique, int keys, int memory, bool random, int parallel);
	probe sort__done(bool external, long used);
	probe buffer__read__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend, bool extends);
	probe buffer__read__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend);
	probe buffer__read__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend, bool extends, bool hit);
	probe buffer__read__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend, bool hit);
	probe buffer__flush__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation);
	probe buffer__flush__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation);
	probe buffer__write__dirty__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation);
	probe buffer__write__dirty__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation);
	probe buffer__checkpoint__start(int flags);
	probe buffer__sync__start(int buffers, int wanted);
	probe buffer__sync__written(int buffer);
	probe buffer__sync__done(int buffers, int written, int wanted);
	probe smgr__md__read__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend);
	probe smgr__md__read__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend, int got, int wanted);
	probe smgr__md__write__start(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend);
	probe smgr__md__write__done(int fork, unsigned int block, unsigned int tablespace, unsigned int database,
		unsigned int relation, int backend, int got, int wanted);
	probe checkpoint__start(int flags);
	probe checkpoint__done(int written, int buffers, int added, int removed, int recycled);
	probe clog__checkpoint__start(bool normal);
	probe clog__checkpoint__done(bool normal);
	probe subtrans__checkpoint__start(bool normal);
	probe subtrans__checkpoint__done(bool normal);
	probe multixact__checkpoint__start(bool normal);
	probe multixact__checkpoint__done(bool normal);
	probe wal__insert(unsigned char rmid, unsigned char info);
};

provider python {
	probe function__entry(char *filename, char *funcname, int lineno);
	probe function__return(char *filename, char *funcname, int lineno);
	probe line(char *filename, char *funcname, int lineno);
	probe gc__start(int generation);
	probe gc__done(long collected);
	probe import__find__load__start(char *module);
	probe import__find__load__done(char *module, int found);
	probe audit(char *event, void *args);
};

provider hotspot {
	probe class__loaded(char class_name[class_length], int class_length, void *loader, bool shared);
	probe class__unloaded(char class_name[class_length], int class_length, void *loader, bool shared);
	probe class__initialization__required(char class_name[class_length], int class_length, void *loader, int thread_type);
	probe class__initialization__recursive(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__concurrent(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__erroneous(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__super__failed(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__clinit(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__error(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe class__initialization__end(char class_name[class_length], int class_length, void *loader,
		int thread_type, int wait);
	probe thread__start(char name[name_length], int name_length, long java_id, long native_id, bool daemon);
	probe thread__stop(char name[name_length], int name_length, long java_id, long native_id, bool daemon);
	probe gc__begin(bool full);
	probe mem__pool__gc__begin(char manager[manager_length], int manager_length, char pool[pool_length],
		int pool_length, unsigned long initial, unsigned long used, unsigned long committed, unsigned long most);
	probe mem__pool__gc__end(char manager[manager_length], int manager_length, char pool[pool_length],
		int pool_length, unsigned long initial, unsigned long used, unsigned long committed, unsigned long most);
	probe method__compile__begin(char compiler[compiler_length], int compiler_length, char class_name[class_length],
		int class_length, char method[method_length], int method_length, char signature[signature_length],
		int signature_length);
	probe method__compile__end(char compiler[compiler_length], int compiler_length, char class_name[class_length],
		int class_length, char method[method_length], int method_length, char signature[signature_length],
		int signature_length, bool success);
	probe compiled__method__load(char class_name[class_length], int class_length, char method[method_length],
		int method_length, char signature[signature_length], int signature_length, void *code, unsigned long size);
	probe compiled__method__unload(char class_name[class_length], int class_length, char method[method_length],
		int method_length, char signature[signature_length], int signature_length);
	probe method__entry(long thread, char class_name[class_length], int class_length, char method[method_length],
		int method_length, char signature[signature_length], int signature_length);
	probe method__return(long thread, char class_name[class_length], int class_length, char method[method_length],
		int method_length, char signature[signature_length], int signature_length);
	probe object__alloc(long thread, char class_name[class_length], int class_length, unsigned long size);
	probe monitor__contended__enter(long thread, void *monitor, char class_name[class_length], int class_length);
	probe monitor__contended__entered(long thread, void *monitor, char class_name[class_length], int class_length);
	probe monitor__contended__exit(long thread, void *monitor, char class_name[class_length], int class_length);
	probe monitor__wait(long thread, void *monitor, char class_name[class_length], int class_length, long timeout);
	probe monitor__waited(long thread, void *monitor, char class_name[class_length], int class_length);
	probe monitor__notify(long thread, void *monitor, char class_name[class_length], int class_length);
	probe monitor__notifyAll(long thread, void *monitor, char class_name[class_length], int class_length);
	probe thread__park__begin(void *parker, int absolute, long time);
	probe thread__park__end(void *parker);
	probe thread__unpark(void *parker);
	probe thread__sleep__begin(long milliseconds);
	probe thread__sleep__end(int interrupted);
	probe vmops__request(char operation[operation_length], int operation_length, int mode);
	probe vmops__begin(char operation[operation_length], int operation_length, int mode);
	probe vmops__end(char operation[operation_length], int operation_length, int mode);
};

provider libstdcxx {
	probe throw(void *object, void *type);
	probe catch(void *object, void *type);
	probe rethrow(void *object, void *type);
};

provider libgcc {
	probe unwind(void *cfa, void *handler);
};

provider libc {
	probe setjmp(void *env, int value, void *pc);
	probe longjmp(void *env, int value, void *pc);
	probe longjmp_target(void *env, int value, void *pc);
	probe lll_lock_wait_private(void *futex);
	probe lll_lock_wait(void *futex, int private);
	probe lll_futex_wake(void *futex, int count, int private);
	probe memory_heap_new(void *heap, unsigned long size);
	probe memory_heap_reuse(void *heap, unsigned long size);
	probe memory_heap_more(void *heap, unsigned long size);
	probe memory_heap_less(void *heap, unsigned long size);
	probe memory_heap_free(void *heap, unsigned long size);
	probe memory_arena_new(void *arena, unsigned long size);
	probe memory_arena_retry(unsigned long bytes, void *arena);
	probe memory_arena_reuse(void *arena, void *avoided);
	probe memory_arena_reuse_wait(void *mutex, void *arena, void *avoided);
	probe memory_arena_reuse_free_list(void *arena);
	probe memory_sbrk_more(void *brk, unsigned long size);
	probe memory_sbrk_less(void *brk, unsigned long size);
	probe memory_malloc_retry(unsigned long bytes);
	probe memory_memalign_retry(unsigned long bytes, unsigned long alignment);
	probe memory_realloc_retry(unsigned long bytes, void *old);
	probe memory_calloc_retry(unsigned long bytes);
	probe memory_mallopt(int parameter, int value);
	probe pthread_start(unsigned long thread, void *routine, void *argument);
	probe pthread_create(void *thread, void *attributes, void *routine, void *argument);
	probe pthread_join(unsigned long thread);
	probe pthread_join_ret(unsigned long thread, int result, void *value);
	probe mutex_init(void *mutex);
	probe mutex_destroy(void *mutex);
	probe mutex_entry(void *mutex);
	probe mutex_acquired(void *mutex);
	probe mutex_release(void *mutex);
	probe cond_init(void *cond, void *attributes);
	probe cond_destroy(void *cond);
	probe cond_wait(void *cond, void *mutex);
	probe cond_signal(void *cond);
	probe cond_broadcast(void *cond);
};

provider rtld {
	probe init_start(long namespace, void *debug);
	probe init_complete(long namespace, void *debug);
	probe map_start(long namespace, void *debug);
	probe map_failed(long namespace, void *debug);
	probe map_complete(long namespace, void *debug, void *map);
	probe reloc_start(long namespace, void *debug);
	probe reloc_complete(long namespace, void *debug, void *map);
	probe unmap_start(long namespace, void *debug);
	probe unmap_complete(long namespace, void *debug);
};

provider mysql {
	probe connection__start(unsigned long connection, char *user, char *host);
	probe connection__done(int status, unsigned long connection);
	probe command__start(unsigned long connection, int command, char *user, char *host);
	probe command__done(int status);
	probe query__start(char *query, unsigned long connection, char *database, char *user, char *host);
	probe query__done(int status);
	probe query__parse__start(char *query);
	probe query__parse__done(int status);
	probe query__cache__hit(char *query, unsigned long rows);
	probe query__cache__miss(char *query);
	probe query__exec__start(char *query, unsigned long connection, char *database, char *user, char *host, int kind);
	probe query__exec__done(int status);
	probe insert__row__start(char *database, char *table);
	probe insert__row__done(int status);
	probe update__row__start(char *database, char *table);
	probe update__row__done(int status);
	probe delete__row__start(char *database, char *table);
	probe delete__row__done(int status);
	probe read__row__start(char *database, char *table, int scan);
	probe read__row__done(int status);
	probe index__read__row__start(char *database, char *table);
	probe index__read__row__done(int status);
	probe handler__rdlock__start(char *database, char *table);
	probe handler__rdlock__done(int status);
	probe handler__wrlock__start(char *database, char *table);
	probe handler__wrlock__done(int status);
	probe handler__unlock__start(char *database, char *table);
	probe handler__unlock__done(int status);
	probe filesort__start(char *database, char *table);
	probe filesort__done(int status, unsigned long rows);
	probe select__start(char *query);
	probe select__done(int status, unsigned long rows);
	probe insert__start(char *query);
	probe insert__done(int status, unsigned long rows);
	probe insert__select__start(char *query);
	probe insert__select__done(int status, unsigned long rows);
	probe update__start(char *query);
	probe update__done(int status, unsigned long matched, unsigned long changed);
	probe multi__update__start(char *query);
	probe multi__update__done(int status, unsigned long matched, unsigned long changed);
	probe delete__start(char *query);
	probe delete__done(int status, unsigned long rows);
	probe multi__delete__start(char *query);
	probe multi__delete__done(int status, unsigned long rows);
	probe net__read__done(int status, unsigned long bytes);
	probe net__write__start(unsigned long bytes);
	probe net__write__done(int status);
};

provider ruby {
	probe method__entry(char *classname, char *method, char *filename, int lineno);
	probe method__return(char *classname, char *method, char *filename, int lineno);
	probe cmethod__entry(char *classname, char *method, char *filename, int lineno);
	probe cmethod__return(char *classname, char *method, char *filename, int lineno);
	probe require__entry(char *required, char *filename, int lineno);
	probe require__return(char *required, char *filename, int lineno);
	probe find__require__entry(char *required, char *filename, int lineno);
	probe find__require__return(char *required, char *filename, int lineno);
	probe load__entry(char *loaded, char *filename, int lineno);
	probe load__return(char *loaded, char *filename, int lineno);
	probe raise(char *classname, char *filename, int lineno);
	probe object__create(char *classname, char *filename, int lineno);
	probe array__create(long length, char *filename, int lineno);
	probe hash__create(long length, char *filename, int lineno);
	probe string__create(long length, char *filename, int lineno);
	probe symbol__create(char *text, char *filename, int lineno);
	probe parse__begin(char *filename, int lineno);
	probe parse__end(char *filename, int lineno);
};

provider php {
	probe compile__file__entry(char *file, char *translated);
	probe compile__file__return(char *file, char *translated);
	probe error(char *message, char *file, int lineno);
	probe exception__caught(char *classname);
	probe exception__thrown(char *classname);
	probe execute__entry(char *file, int lineno);
	probe execute__return(char *file, int lineno);
	probe function__entry(char *function, char *file, int lineno, char *classname, char *scope);
	probe function__return(char *function, char *file, int lineno, char *classname, char *scope);
	probe request__startup(char *file, char *uri, char *method);
	probe request__shutdown(char *file, char *uri, char *method);
};

provider perl {
	probe sub__entry(char *sub, char *file, int line, char *package);
	probe sub__return(char *sub, char *file, int line, char *package);
	probe phase__change(char *new, char *old);
	probe op__entry(char *op);
	probe loading__file(char *file);
	probe loaded__file(char *file);
};
